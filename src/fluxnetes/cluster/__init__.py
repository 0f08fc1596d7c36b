"""What Kubernetes objects mean to the scheduler. Pure: objects in, values out.

    names        every label, annotation, gate and scheduler name, in one table
    quantities   "250m" and "1Gi" as whole numbers
    requests     what one pod takes from a node
    selectors    conditions on labels: whether they hold, and one spelling for equal ones
    rules        which nodes a pod may go to
    aparts       which pods must not share a node with it (required anti-affinity)
    volumes      what a pod's claims add to its rule
    verdicts     which hard rules we cannot honour, and which soft ones are left out
    walltimes    "1h30m" as seconds
    marks        what labels and annotations ask for, in every dialect

A pod so becomes *amounts* (numbers by resource) and a *rule* (a predicate on nodes with a name of
its own). Two pods that ask for the same have the same amounts and the same rule, however their
manifests are written; that is what makes ten thousand pods a handful of shapes.
"""
