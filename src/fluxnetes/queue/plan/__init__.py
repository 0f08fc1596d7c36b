"""Capacity over time: what is held, what is promised, and when a request fits.

`promises`    planned starts: made, kept, moved, dropped                     start here
`base`        the capacity plan: running jobs, bookings, claims, blocks
`by_count`    the plan as numbers of free units, where that is exact
`by_vertex`   the plan with a witness on real vertices for every booking
`builder`     chooses the form of the plan, and rebuilds it when it no longer fits
`columns`     what the timeline counts, and what each request takes
`timeline`    free amounts by column and stretch of time
`requests`    a job's request as a multiple of units
`windows`     maintenance windows and advance reservations
`preemption`  victims of lower classes, whose capacity starts a job

cycle --> promises, preemption --> base (by_count or by_vertex) --> timeline over columns
                                          ^            |
          builder (windows, requests) ----+            +--> match.planning: search and allocate
"""
