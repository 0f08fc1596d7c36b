"""The matcher: finds the vertices for a request, now or at the earliest later time.

    Jobspec or Gang --requests--> MatchRequest --attempt--> Answer (placement, or a reason)
                                      |   ^
             engine (jobspecs), gang (pods) over views of the ledger

There are two ways in. `Matcher` decides and records in one step, as Fluxion's resource-query does.
`Planning` lets a queue ask about windows of its choice, book capacity for later jobs, and record
its own decisions. Both work on one graph; neither does I/O or reads a clock.

The facade:

- `matcher`: `Matcher`: match operations, cancel, adopt, changes of the graph, find
- `planning`: `Planning`: candidates, capacity and bookings, for a queue
- `nodes`: `NodeIndex`: nodes by name; their status, closure and foreign usage

Requests and answers:

- `requests`: a jobspec or a gang in the form that the engine tries
- `attempt`: one match operation: now, then later, then whether ever
- `answers`: `Answer`, `Outcome` and `Operation`
- `candidate`: `Candidate`, a placement that is found but not allocated
- `causes`: closed nodes and usage of others that keep a request from fitting
- `reasons`: why a request does not fit
- `policy`: match policies and their parser
- `jobs`: `MatchedJob`, the record of a job that holds resources
- `adopt`: allocations that were made elsewhere
- `errors`: the errors that the matcher raises

Packages:

- `engine`: matching of jobspecs on one tree
- `gang`: placement of gangs of pods on nodes of pools
- `ledger`: what jobs hold, now and later
- `find`: queries for vertices by state
"""
