"""The queue: decides which jobs start, and which are promised what start. No I/O and no clock.

    `scheduler`     the facade: events in, decisions out                         start here
    `cycle`         one pass over all queues: starts, promises, backfill
    `explain`       why a job is in its state, and until when it waits
    `events`        what the caller reports or requests
    `changes`       what was decided, to persist and to carry out; snapshots
    `jobs`          submissions, and the records of jobs
    `states`        the states of a job, and the transitions between them
    `config`        configuration of queues, limits, budgets and shares
    `errors`        what is raised when an event cannot be applied
    `input_limits`  rejects values that cannot be persisted
    `core`          the shared state that the modules below work on

    `lifecycle`     handles events, and moves jobs from state to state
    `order`         order of eligible jobs, eligibility, limits, usage
    `plan`          capacity over time: bookings, promises, windows, preemption
    `persist`       records and changes, snapshot, restore, invariants

An event changes jobs; a cycle starts and promises; both leave changes for the caller to take:

    event --> input_limits --> lifecycle.handlers --> lifecycle.transitions --+
                                                                              +--> persist.records
    cycle --> order (gate, order, limits) --> plan.promises --> plan.base     |          |
                                                 |               |            |          v
                                                 |               v            |       changes
                                                 |         match.planning     |          |
                                                 +----- job fits: start ------+          v
                                                                                 store, controller

`Scheduler.snapshot` and `Scheduler.resume` move a queue to another process or to a simulation.
docs/queue.md explains the policies, docs/states.md the states.
"""
