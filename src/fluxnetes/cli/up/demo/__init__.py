"""The demo of `fluxnetes up`: a small workload that shows what the queue does.

    run        submits the workload and follows it until all of it has ended    start here
    workload   what is submitted, in which order, and the expected results      (data)
    submit     creates the namespace and the objects
    board      the state of each entry, from FluxJobs and pods                  (pure)
    screens    shows the board: a table on a terminal, else lines
    words      the introduction, and what to look at afterwards

    workload ──submit──▶ API server ──informers──▶ board ──▶ screens

The namespace is `fluxnetes-demo`; what an earlier demo left there is deleted first.
"""
