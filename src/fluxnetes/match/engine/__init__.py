"""The matching engine: finds the vertices for a jobspec in a window of time, on one tree.

    jobspec --stages--> CompiledRequest                      (once per request and graph shape)
    CompiledRequest + LedgerView --evaluate--> StageStates   (incremental for the view of now)
    StageStates --chooser--> VertexSelection --closure--> HeldVertices --> the ledger

- `engine`: `MatchEngine`, the facade: compiles, selects and records on one tree under one policy

What depends on the graph's shape:

- `groups`: vertices that a request cannot distinguish by shape, in groups
- `scores`: the preference of each vertex under a policy

What depends on the request:

- `stages`: a request compiled to a tree of stages, one per useful group
- `flexible`: slots with alternatives, of the flexible traverser
- `allowed_nodes`: the nodes that a constraint allows, as a column

Evaluation, bottom up:

- `states`: the columns of each stage, and qualified vertices as rows
- `evaluate`: computes or updates the columns of each stage
- `slots`: the number and the scores of the slots below a vertex
- `packing`: vertices to shares of a slot
- `intervals`: intervals of scores, for the locality policy

Selection, top down:

- `chooser`: from the qualified vertices, the most preferred ones
- `first_fit`: the walk of the `first` policies, which stops as soon as it has enough
- `closure`: from the selected vertices, everything that the job holds or shares

Where vertices have several parents:

- `paths`: by which path a match uses a vertex, and by which a job came to it

Gangs are placed by `match.gang`, on the same tree and ledger.
"""
