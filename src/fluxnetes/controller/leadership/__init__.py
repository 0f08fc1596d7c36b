"""Terms of leadership: which controller leads, and how its term begins.

terms        the loop of a candidate: win, recover, assemble the controller, run    start here
preflight    what the cluster must have first, and its uid
crd          installs the FluxJob definition
election     the Lease of the cluster
recovery     the state of a term, from the store and the cluster
held_pools   what pods hold of pools that shrank or are gone
adoption     what only the cluster knows: running jobs without a record, order of arrival

preflight ──▶ election ──▶ recovery (over `adoption`) ──▶ Controller.run
                  ▲                                             │ a lease is lost
                  └─────────────────────────────────────────────┘
"""
