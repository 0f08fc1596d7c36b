"""The loop: what the cluster shows goes into the queue, and what the queue decides is carried out.

    term         terms of leadership: win, recover, run, lose       start here
    preparing    what a cluster must have before anybody can lead
    recovery     how a term begins
    controller   the rounds, and all parts together
      following  informers -> world
      desk       groups on one side, the queue on the other
      grounds    nodes and others, for the queue
      seating    which pod sits where
      queueing   groups -> queue
      finishing  the queue's decisions -> groups
      carrying   decisions -> actions                               (over `actions`)
      hands      actions -> API server
    telling      which words about which object, and when           (over `words`, `jobspecs`)
    reports      all that users are told, in one piece
      events     what happened to an object           (`kubectl describe`; over `folding`)
      conditions why a pod waits                      (the same, and dashboards)
      records    FluxJobs, kept equal to what is wanted  (over `fluxjobs`: what one says,
                 and `filing`: single writes)
      courtesy   reports give way to binds
      agenda     what is to be looked at, and when
    leader       who leads: a Lease of the cluster
    crd          what a FluxJob is, for the API server

docs/kubernetes.md tells how it works.
"""
