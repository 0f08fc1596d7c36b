"""Matching where vertices have several parents, and so several paths lead to them.

A vertex has a position for each path (`graph.topology`), so evaluation and selection work on such a
graph as on a tree. These modules add what a tree does not need:

- `contested`: by which path a match uses a vertex that it could use by several
- `visits`: all that a walk of the `first` policies visits for a request
- `path_finder`: the path by which a job came to its vertices, from its placement
"""
