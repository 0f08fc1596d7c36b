"""The command line: `fluxnetes` and its subcommands.

    entry           finds the subcommand, and imports nothing else
    options         the Typer app, and options that several subcommands share
    deprecation     notes about options that have a new name
    logging_setup   the log of a long-running subcommand
    exit_status     the statuses of subcommands that end early

    controller/     schedule the pods of a Kubernetes cluster
    webhook/        admit Jobs and Pods that opted in
    up/             a local control plane with all of Fluxnetes, and the demo
    serve/          the matcher, or a queue, over gRPC
    simulate/       workloads and queues on virtual time
    resource_query/ the matcher at a prompt, compatible with Fluxion's tool

    arguments ──entry──▶ SUBCOMMAND/__init__.main ──▶ options ──▶ run ──▶ exit status

A subcommand parses its options before it imports what it runs, so that help and wrong options are
answered at once. Results go to standard output, progress, logs and errors to standard error. An
exit status of 2 is a wrong option, 1 a failure, 130 an interrupt.
"""
