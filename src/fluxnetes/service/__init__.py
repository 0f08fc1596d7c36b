"""What callers ask of a matcher or a queue, independent of any wire protocol.

    backend          the protocol of a backend, which every dialect of `rpc` uses
    values           its requests and answers
    errors           why it refuses a request
    callers          callers, and which jobs are theirs
    matcher_backend  the backend with a matcher on a graph of its own
    matcher_ops      its synchronous operations: load, match, cancel, grow, shrink
    queue_backend    the backend that asks a queue in another event loop
    mailbox          passes requests to the loop of the queue, and their answers back
    operations       the operations of callers on a queue, as requests for the mailbox
    queue_events     follows a queue for its backend: change logs, health, leases
    queue_runner     the loop of a standalone queue; the controller has one of its own
    estimate         when and where a job would start, from a copy of the queue
    changelog        which jobs and nodes changed since a revision, for streams that resume
    health           whether a backend can answer, and each time that changes

    requests/        requests of callers, in the resource types of a graph
    views/           read models: jobs, nodes, shares, allocation texts
    leases/          leases of callers' jobs and of a matcher's allocations
    concurrency/     worker thread, event loop in a thread, background tasks
    persistence/     the journal of a matcher's allocations, and which component owns a store

A match, in one of the two backends:

    MatchCall ──▶ MatcherBackend.match ──▶ WorkerThread ──▶ MatcherOperations.match
                  ◀── BatchedWriter.flush ◀── AllocationJournal ◀─────┘
    MatchCall ──▶ QueueBackend.match ──▶ Mailbox ──▶ QueueOperations.match: a job of the queue
                  ◀── the answer, when the round's decisions are committed

Both return a `Grant`. The package is below `rpc` and `controller`, which do not know each other:
the controller is a `mailbox.QueueHost`, and gRPC is one way to reach a backend.
"""
