"""The codec of the store: the queue's values as rows and JSON, and back without loss.

    rows      records of the queue <-> rows of the tables
    reasons   why a job is where it is <-> text and JSON; used by rows
    requests  requests and constraints <-> JSON; used by rows and config
    config    the configuration of the queues <-> JSON

Data flow:

    records -> rows (requests) -> writes -> Postgres -> load -> rows (requests) -> records
    SchedulerConfig <-> config (requests) <-> the row of `system`
"""
