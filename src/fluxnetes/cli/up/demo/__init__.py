"""A small workload that shows what the queue does.

    run        submit, follow, until all of it is over                        start here
      workload what is submitted, in which order, and what is to come of it   (data)
      submit   into a namespace of its own
      board    what each entry does, from FluxJobs and pods                   (pure)
      screens  a table on a terminal, else lines
      words    what it is about, and what to look at afterwards

It lives in the namespace `fluxnetes-demo`; what an earlier demo left there goes first.
"""
