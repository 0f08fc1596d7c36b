"""Flux's compact notations for sets of numbers and lists of hosts.

- `idset`: sets of non-negative integers, `0-3,7` (RFC 22)
- `hostlist`: lists of host names, `node[0-3,7]` (RFC 29)

Each module has a `decode_` function, text to values, and an `encode_` function, values to text.
Nothing here imports another package of ours: jobspecs (constraints), readers and writers of graphs,
and commands all use the same two modules.
"""
