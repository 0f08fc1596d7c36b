"""The ledger: what jobs hold on one tree, now and later.

    engine --JobHolding--> Ledger --now, during, later, idle...--> LedgerView --> evaluation
              |
              +--amounts--> AggregateProfile --> the times at which a reservation is tried

- `ledger`: `Ledger`, the holdings of all jobs: columns for now, spans for later, a log of changes
- `views`: `LedgerView` and its subclasses: what is free now, in a window, or on the empty graph
- `twins`: a holding at every position of its vertices, where vertices have several parents
- `aggregates`: the minimum amounts of a request, and what the root has left of each type over time
- `prune_filters`: which vertices track the amounts of which types below them
"""
