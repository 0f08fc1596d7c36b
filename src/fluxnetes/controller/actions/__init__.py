"""Actions on the cluster: binds, changes of workloads, ends of pods.

types       the actions, as values
queue       what is requested, in flight, or was just done
executor    workers that carry actions out, with retries
outcomes    feeds results back into the state, and reports them

reconcile ──request──▶ queue ──▶ executor ──▶ API server
                                    │
                  state, reporter ◀─┴─ outcomes
"""
