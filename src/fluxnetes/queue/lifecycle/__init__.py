"""The lifecycle of jobs: handles events, and moves jobs from state to state.

    `handlers`     one method for each type of event                             start here
    `admission`    submits, rejects and adopts jobs
    `alter`        changes walltime, priority, queue or request
    `tasks`        ends single tasks, and computes what each of them holds
    `elastic`      grows elastic jobs
    `reseating`    moves tasks of a gang to other nodes
    `companions`   where pods of a placed gang may be, by its topology request
    `review`       judges waiting jobs again after the graph changed
    `nodes`        nodes lost, back, closed or opened; foreign usage; changed graphs
    `allocations`  changes what a job holds, in all books at once
    `transitions`  the named transitions: record, limits, budgets, usage, plan, history

    events --> handlers --> admission, alter, nodes --------> transitions --> persist.records
                  |                                             ^     |             |
                  |                                             |     v             v
                  |                                            order.gate        changes
                  +-----> tasks, elastic, reseating --> allocations --> persist.records

Only `transitions` sets a job's state. The scheduling cycle (`queue.cycle`) and preemption
(`queue.plan.preemption`) call it, too.
"""
