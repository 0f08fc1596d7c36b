"""The order of waiting jobs, and the checks that keep a job from starting.

`gate`       which pending jobs are eligible: begin times, dependencies, arrays, limits
`order`      the rank of each job, and the line of eligible jobs of each queue
`usage`      decaying usage of accounts, and their fair share factors
`limits`     limits at one time, and budgets per period
`verdicts`   whether the graph can serve a request at all
`growth`     which waiting jobs would start if there were more nodes
`estimates`  what a waiting job would hold, and what that counts in usage

job becomes pending --> gate --> parked (begin time, dependency, nothing can serve it)
                          |
                          +----> line of its queue (order, by usage and estimates) --> cycle
                                                                                         |
                                                    limits and budgets: skip or start <--+
"""
