"""Faults under load, at random moments: nothing is lost, and every end is told as it was.

Kill -9 of the controller, Postgres and the API server, and work that is designed to end in a
certain way:

    works       what users ask for, drawn from a seed, and how each piece is to end
    manifests   the same as Kubernetes objects
    site        a real cluster with all that is to be killed
    recorder    a process that writes down all that happens to pods, Jobs and nodes, from etcd
    record      what it wrote
    storm       the run: work comes, things are killed, everything ends
    checks      what must be so, as pure functions over the record, the tables and the last look
    verdict     all checks of one run, and what to tell about it

Faults of all kinds, two controllers, and work whose end Kubernetes decides:

    faults/     the load, the faults, the run
    truth/      compares what Fluxnetes says of every end with what Kubernetes says

    command     `bench/crash`, which does either

The record is taken from etcd itself, which is never killed here: a watch of the API server would
break with every kill of it, and lose in just those moments what it is there to show.
"""
