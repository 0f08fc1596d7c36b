"""What must hold of the queue for any workload, whatever happens to it.

What the tests are made of:

    world       a small cluster with a clock, on which the queue's decisions are carried out
    story       what happens in a world, whatever the queue does
    workloads   jobs as the textbook knows them, drawn at random
    scripts     whole stories, drawn at random; happenings: what happens besides jobs that come
    books       which jobs are really on which nodes, and that nothing is held twice
    notary      what was promised to which job, and that it was kept
"""
