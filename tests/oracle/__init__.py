"""A slow, plain matcher that follows the documented rules one vertex at a time.

The fast matcher works on columns; this one works on Python objects, recursively, and keeps no
state that can be computed again. It exists to be read beside the reference's rules and to be
compared with the fast one, step by step, on random graphs, requests and streams of operations
(`tests/property`). Where the two differ, one of them is wrong.

    tree      the graph as objects that know their parent and children
    calendar  who holds what, when; everything else about time is computed from it
    policies  scores, and the order in which candidates are taken
    search    one depth-first search for one request in one window
    findings  what it finds, how it counts that, and how it takes of it
    slots     how slots are filled with what was found
    emission  from the vertices that a search marked to the rows that a job holds
    oracle    the operations: match, cancel, partial cancel, adopt, status
    generate  hypothesis strategies for graphs and jobspecs
    streams   hypothesis strategies for streams of operations
"""
