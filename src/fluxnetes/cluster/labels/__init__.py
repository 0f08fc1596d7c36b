"""Labels and annotations: their names, and what they ask for.

names        every label, annotation, gate and scheduler name, in one table
parse        metadata -> WorkloadLabels, in every dialect
walltimes    "1h30m" as seconds

metadata ──▶ parse (by `names`, `walltimes`) ──▶ WorkloadLabels, or InvalidLabel
"""
