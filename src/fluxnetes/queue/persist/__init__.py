"""What outlives a step of the queue: records, changes, snapshots, invariants.

    `records`   jobs and their histories in memory, and the changes not yet taken
    `snapshot`  all that another queue needs to continue
    `restore`   enters a snapshot into an empty queue
    `validate`  checks after a step that all copies of a fact agree

    lifecycle, cycle --> records --> changes --> store
                                                   |
                        snapshot --> restore <-----+ (loaded after a restart)

Nothing here does I/O: the package `fluxnetes.store` persists changes and loads snapshots.
"""
