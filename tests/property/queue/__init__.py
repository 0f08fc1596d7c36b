"""What must hold of the queue for any workload, whatever happens to it.

world       a small cluster with a clock, on which the queue's decisions are carried out
workloads   what comes and what happens, drawn at random
books       who is really on which nodes, and that nobody is there twice
notary      what was promised to whom, and that it was kept
memory      what was written down, for a queue that starts again
profile     how many nodes are free when, added up from the records alone
"""
