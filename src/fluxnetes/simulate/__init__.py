"""Workloads through the queue, on virtual time.

    swf.py        traces: the Standard Workload Format
    lublin.py     generated workloads: the model of Lublin and Feitelson
    workload.py   what both give: jobs as columns
    cluster.py    the machine: a graph whose processors are numbered
    policies.py   policies by name
    engine.py     the event loop: workload + cluster + policy -> schedule
    ahead.py      a queue that goes on from a snapshot
    forecast.py   what if: a recorded queue run ahead, as it is and with something changed
    estimate.py   when and where would one more job start
    schedule.py   when and where each job ran
    metrics.py    the figures of a schedule, and what each means
    table.py      figures in words
    document.py   results as JSON
    report.py     results as a page with charts (`page/`)
    errors.py     what can go wrong

The queue and the matcher are those that run a cluster; nothing here decides who starts.
"""
