-- The system that the queue belongs to: its graph, and how its queues are set up. Allocations hold
-- row numbers of the graph of the process that wrote them; this says which vertex each number means.
CREATE TABLE system (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- The graph as JGF, compressed with gzip.
    graph bytea NOT NULL,
    -- For each vertex of that document, in its order, the row it has in allocations.
    rows bigint[] NOT NULL,
    -- The rows that are down. Apart from the document, because nodes come and go more often than
    -- the graph is made anew.
    down bigint[] NOT NULL,
    -- json, not jsonb: it comes back exactly as it was written.
    config json NOT NULL
);
-- It is compressed already.
ALTER TABLE system ALTER COLUMN graph SET STORAGE EXTERNAL;
