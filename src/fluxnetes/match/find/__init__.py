"""Find: queries for the vertices of a graph that are in a given state.

    text --query--> FindQuery --evaluate over TreeFacts--> positions --> Placement

- `query`: the query language: parser, predicates, and which vertices are shown for a match
- `facts`: `TreeFacts`, the columns that predicates read: status, jobs, names, properties
"""
