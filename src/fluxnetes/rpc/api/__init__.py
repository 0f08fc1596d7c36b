"""The services of `fluxnetes.v1`. The comments of the messages say what each call means.

    jobs       JobService: matches, submissions, views of jobs
    resources  ResourceService: the graph, its nodes, the status of the server
    reading    messages to values
    writing    values to messages
    streams    streams of changes that can be resumed

The way of a call, and of a stream:

    message ──▶ reading ──▶ values of `service` ──▶ Backend ──▶ values ──▶ writing ──▶ message
    WatchJobs, WatchResources ──▶ streams ──▶ ChangeLog of the backend, then its views
"""
