"""What Kubernetes objects mean to the scheduler. Pure: objects in, values out.

    model         all objects, sorted into groups; what changed         start here
      groups      pods and workloads that belong together
      membership  which group an object belongs to
      pod_groups  PodGroups of every API, and the workloads that name them
      agreement   members of a group that disagree about it
      parts       the jobs of a group, and their seats
      owners      who owns a pod, as far as it can be verified
    node_graph    nodes as a resource graph
      shrunken_pools  what pools had before they shrank below what pods hold
    demand        what a group asks of the queue
    outcome       how a group ended, as Kubernetes says it
    quantities    "250m" and "1Gi" as whole numbers
    config_units  limits and budgets of a file, in the units of the graph
    reason_text   why a job waits, in the units and names of Kubernetes
    adapters/     one for each kind of workload
    labels/       every label and annotation, and what they ask for
    pods/         what one pod asks for: its footprint
    usage/        what pods hold that no job of the queue accounts for

How data flows:

    objects ──▶ model ──▶ groups (dirty) ──▶ demand ──▶ footprints ──▶ a job of the queue
                  │                            ▲
                  ├──▶ usage ──▶ the queue     │ pods.reader, which extends node_graph
                  ▼                            │
    nodes ──▶ node_graph ──────────────────────┘

A pod becomes *amounts* (numbers by resource) and a *rule* (a predicate on nodes with a name of its
own). Two pods that ask for the same have the same amounts and the same rule, however their
manifests are written; that is what makes ten thousand pods a handful of shapes.
"""
