"""What Kubernetes objects mean to the scheduler. Pure: objects in, values out.

What there is:

    world        every object, sorted into groups                    start here
      groups     what belongs together, its parts and their seats
      adapters   one for each kind of workload
      others     what pods hold that are not ours   (over `guests`: those that use a caller's share)
      separations  who keeps away from whom
    machines     nodes as a graph
    demand       what a group asks of the queue
      reading    a pod's spec -> its footprint      (over `footprints`)

What one object says:

    names        every label, annotation, gate and scheduler name, in one table
    quantities   "250m" and "1Gi" as whole numbers
    requests     what one pod takes from a node
    selectors    conditions on labels: whether they hold, and one spelling for equal ones
    rules        which nodes a pod may go to
    aparts       which pods must not share a node with it (required anti-affinity)
    volumes      what a pod's claims add to its rule
    verdicts     which hard rules we cannot honour, and which soft ones are left out
    walltimes    "1h30m" as seconds
    priorities   what the pods of a template will count
    marks        what labels and annotations ask for, in every dialect

A pod so becomes *amounts* (numbers by resource) and a *rule* (a predicate on nodes with a name of
its own). Two pods that ask for the same have the same amounts and the same rule, however their
manifests are written; that is what makes ten thousand pods a handful of shapes.
"""
