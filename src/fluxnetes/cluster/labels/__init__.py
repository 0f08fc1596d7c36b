"""Labels and annotations: their names, and what they ask for.

names        every label, annotation, gate and scheduler name, in one table
parse        metadata -> WorkloadLabels, in every dialect
topology     which pods are to be close together, and which apart
walltimes    "1h30m" as seconds
errors       what is wrong with one of them

metadata ──▶ parse (by `names`, `walltimes`) ──▶ WorkloadLabels, or InvalidLabel
"""
