"""The controller: what the cluster shows goes into the queue, and what it decides is carried out.

    leadership/   terms: win, recover, assemble, run, lose            start here: `leadership.terms`
    loop          the rounds
    state         which part of which group is which job; events for the queue
    watchers      informers -> cluster model
    node_sync     nodes and foreign usage -> queue
    seats         which pod has which seat
    submission    groups -> queue
    decisions     decisions of the queue -> groups
    reconcile     groups -> actions
    actions/      actions -> API server
    reporting/    events, conditions and FluxJobs for users
    manifests/    the FluxJob definition, and the role of the controller

How data flows in a round (see `loop`):

    watchers ──▶ model ──▶ node_sync, seats, submission ──events──▶ queue
                                                                      │ changes, committed
    API server ◀── actions ◀── reconcile ◀── groups ◀── decisions ◀───┤
    users      ◀───────────────────────────────────── reporting ◀─────┘

docs/kubernetes.md describes the behaviour.
"""
