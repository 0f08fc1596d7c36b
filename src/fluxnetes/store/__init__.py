"""The store: the queue, its graph and its configuration in Postgres, with one writer at a time.

    store        Store: open, take the lease, load, commit                        start here
    writes       changes of the queue -> batches of statements; pure until `send`
    write_cache  WriteCache: what was last written of each job, so that only changes are sent
    load         tables -> a snapshot of the queue, single jobs, events
    system       the graph and the configuration that a stored queue belongs to
    translate    allocations of the stored graph -> rows of another graph
    lease        the lease: one writer at a time, with a fencing number
    migrate      applies numbered migrations
    database     Database: connections to a server, with retries while it is unavailable
    statements   loads named statements from sql/
    errors       the error tree

    codec/       records <-> rows, requests and configuration <-> JSON
    embedded/    EmbeddedServer: a Postgres that Fluxnetes starts itself
    sql/         the statements by name; migrations/ the schema

Data flow:

    write   Scheduler.take_changes() -> Store.commit -> writes (codec, write_cache)
            -> lease.claim -> statements, all in one transaction -> Postgres
    read    Postgres -> load (codec), system -> Snapshot, StoredSystem -> translate
            -> Scheduler.resume

Nothing is imported here, so that programs without a store do not load asyncpg.
"""
