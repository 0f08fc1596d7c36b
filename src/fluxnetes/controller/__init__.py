"""The controller: what the cluster shows goes into the queue, and what it decides is carried out.

    leadership/   terms: win, recover, assemble, run, lose            start here: `leadership.terms`
    loop          the rounds
    state         which part of which group is which job; events for the queue
    watchers      informers -> cluster model
    observation   whether the watchers show all that happens; the clock of timeouts
    node_sync     nodes and foreign usage -> queue
    crowding      whether more is held of a node than it has, and why
    seats         which pod has which seat
    finish        ends of pods -> ends of jobs
    submission    groups -> queue
    decisions     decisions of the queue -> groups
    reconcile     groups -> actions
    incomplete    groups that run without some of their pods
    walltimes     changed walltimes of running groups -> queue
    growth        resumes waiting Jobs for which an autoscaler may buy nodes
    deadlines     suspends waiting workloads whose deadline would run
    sweep         finds groups that were forgotten
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
