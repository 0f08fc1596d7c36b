"""What a service keeps in the store. Jobs of a queue are kept by the queue itself.

    allocations  the journal of a matcher's allocations, and their restore after a restart
    writer       commits the journal in batches, and renews the store's lease
    ownership    checks that a store belongs to this kind of component

At the start, and for each call:

    start:   store ──▶ ownership ──▶ allocations.reopen ──▶ MatcherOperations, AllocationJournal
    a call:  AllocationJournal ──▶ BatchedWriter.note (worker) ──▶ flush (event loop) ──▶ store
"""
