"""Requests of callers, converted to the resource types of a graph.

    jobspec_cache  parses jobspecs, with a cache, large ones in a thread; for every dialect
    pods           equal pods of the old dialects, as a jobspec or a gang
    pools          cores and gpus of a jobspec, as the pools of a Kubernetes graph
    resolve        both for a queue: types, nodes for callers, queue names; errors for callers

A request on its way to a backend:

    text ──▶ jobspec_cache ──▶ Jobspec ─┐
             gang, EqualPods ───────────┴─▶ pods ──▶ pools ──▶ Request of the graph
"""
