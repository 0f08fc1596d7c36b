"""Checks of what must hold after a run, whichever component was killed.

    evidence    what a run leaves behind to be judged
    node_usage  no node was over-committed by us; where others and we collided
    crowds      which of our work was displaced by others' pods, which excuses something
    unanswered  pods that Kubernetes made twice, which excuses something
    gangs       no group was half-placed for long
    ends        nothing lost, nothing doubled: every piece of work ended as designed, once
    books       nothing leaked: the tables are empty of what lives, and say the same

Each check is a pure function that returns complaints in words; none means that all is well.
"""
