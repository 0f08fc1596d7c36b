"""Read models: what callers see of a matcher's graph and a queue's jobs.

    jobs             a job of a queue, its shares, and its history as text
    nodes            a node: free, reserved and held amounts, and by which jobs; totals
    shares           a placement as amounts of each type, node by node
    tasks            the number of tasks of a job on each node
    allocation_text  a placement as text: JGF, R, and other formats
    reason_text      a reason in words for callers

From the matcher and the queue to views:

    Placement ──▶ shares (with tasks) ──▶ jobs: JobView
    Matcher ──▶ nodes: NodeView, Pool
    Placement ──▶ allocation_text
"""
