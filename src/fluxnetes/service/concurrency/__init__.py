"""Threads and tasks, so that the event loop of the callers is never blocked.

    worker_thread  executes work one at a time in a thread; undoes what its caller left
    loop_thread    runs an event loop in a thread: a queue's, or the gRPC server's
    background     keeps a reference to background tasks until they are done

The two backends and their threads:

    MatcherBackend ──▶ WorkerThread: matches in order
    QueueBackend ──▶ mailbox of a queue whose loop is in another thread (LoopThread)
"""
