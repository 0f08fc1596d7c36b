"""The resource graph of a cluster: its representation, and its text formats.

    text --readers--> GraphPatch --apply--> ResourceGraph --topology--> Topology --> the matcher
                                                                                        |
                                              text <--writers-- Placement <-------------+

- `columns`: `ResourceGraph`, vertices and edges as columns of numbers and interned strings
- `patch`: `GraphPatch`, vertices and edges to add to a graph
- `topology`: `Topology`, the tree of one subsystem in depth-first order, on which the matcher works
- `limits`, `errors`: limits of a graph, and `GraphError`
- `placement`: `Placement`, the vertices allocated to a job
- `pools`: graphs of quantities (millicores, MiB) instead of numbered cores, as for Kubernetes
- `levels`: zones, blocks and racks between a cluster and its nodes
- `readers`: GRUG, JGF, R and hwloc texts to graphs, and JGF and R to the vertices that a job holds
- `writers`: placements as text (simple, JGF, R), and a whole graph as JGF

The package is pure: it reads no files and knows no jobs. Which vertices are in use is the matcher's
ledger, not the graph's; the graph knows what exists, its status, and amounts that are occupied by
others than the matcher's jobs.
"""
