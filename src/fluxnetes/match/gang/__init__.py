"""Gangs: groups of pods, placed all or none on nodes whose resources are pools.

    Gang + LedgerView --gang_matcher--> FreeTable --placer--> GangPlacement --> HeldVertices, Seats
                           |
                           +--placement_cache: the same gang again, without a search

- `model`: the values: `Gang`, `Shape`, `TopologyRequest`, and `Seats`, the nodes of a shape's pods
- `gang_matcher`: `GangMatcher`, the facade: places gangs and counts pods on one engine's tree
- `node_table`: `NodeTable`, nodes and their pools as a table; `FreeTable`, what is free in a view
- `placer`: `GangPlacer`, one attempt to place a gang
- `topology_placer`: the same for a gang that says which pods are to be close together or apart
- `topology_reasons`: why such a gang does not fit
- `domains`: for each level which nodes are in the same rack, zone and so on
- `distribution`: equal pods and slices on nodes and domains of known capacity
- `placement_cache`: the last placement on one node, reused for an equal gang
- `fixed_placement`: a gang on nodes that the caller names, whatever is free there
"""
