"""What one pod asks for: from its spec to its footprint.

reader                spec -> footprint, and what that needs on the graph      start here
footprint             the result: amounts and the name of a rule
requests              amounts that a pod takes of a node, or holds on it
node_rules            which nodes a pod may use
volumes               what its claims add to the rule
selectors             conditions on labels: whether they hold, and their canonical form
anti_affinity         required anti-affinity terms, as pools on nodes
anti_affinity_index   which pods carry which terms, and which terms have a pool
priorities            the priority that pods of a template will have
unsupported           what of a spec is refused, and what is ignored

spec ──▶ unsupported, volumes ──▶ refused, or waits
     ──▶ node_rules (with volumes) ──▶ rule    ┐
     ──▶ requests ──▶ amounts                  ├──▶ footprint
     ──▶ anti_affinity_index ──▶ amounts       ┘
"""
