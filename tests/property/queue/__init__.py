"""What must hold of the queue for any workload, whatever happens to it.

What the tests are made of:

    world       a small cluster with a clock, on which the queue's decisions are carried out
    story       what happens in a world, whatever the queue does
    workloads   jobs as the textbook knows them, drawn at random
    scripts     whole stories, drawn at random; happenings: what happens besides jobs that come
    books       who is really on which nodes, and that nobody is there twice
    notary      what was promised to whom, and that it was kept
"""
