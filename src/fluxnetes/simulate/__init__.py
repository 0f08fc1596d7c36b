"""Runs the scheduler on virtual time: simulations of workloads, and forecasts of queues.

    swf         reads traces in the Standard Workload Format
    lublin      generates workloads by the model of Lublin and Feitelson
    workload    what both give: jobs as columns
    cluster     the simulated cluster: a graph whose processors are numbered
    policies    queue policies by name
    engine      the event loop: workload + cluster + policy -> schedule
    schedule    when and where each job ran
    metrics     the figures of a schedule and the distribution of its waits
    run_ahead   runs a queue from a snapshot until nothing more happens
    forecast    scenarios of a queue, run ahead and compared
    estimate    when and where one more job would start
    table       figures as text
    document    results as JSON
    report      results as an HTML page with charts (parts in `page/`; `report_waits`: on waits)
    errors      what can go wrong

    swf, lublin ──▶ workload ──engine──▶ schedule ──metrics──▶ table, document, report
    snapshot ──run_ahead──▶ forecast, estimate ──▶ table, document

Scheduler and matcher are those that run a cluster; no decision about jobs is made in this package.
"""
