-- The queue as it is, and the history of its jobs. Names are those of fluxnetes.queue.
-- Times are whole seconds on the queue's clock; null is "none" wherever it is allowed.

-- One writer. The row is always there; taking the lease adds one to the fence, and every
-- transaction that changes anything first compares the fence with its own.
CREATE TABLE lease (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    fence bigint NOT NULL DEFAULT 0,
    holder text NOT NULL DEFAULT '',
    lasts interval NOT NULL DEFAULT '0',
    expires timestamptz NOT NULL DEFAULT '-infinity',
    -- The last transaction of the writer, to find out whether a commit whose answer was lost worked.
    last_commit uuid
);
INSERT INTO lease DEFAULT VALUES;

CREATE TABLE counters (
    name text PRIMARY KEY,
    value bigint NOT NULL
);

-- What a user asked for. It does not change, but for a group that turns out otherwise when it is
-- complete. Apart from jobs, so that a job on its way does not write it again and again.
CREATE TABLE submissions (
    id bigint PRIMARY KEY,
    -- json, not jsonb: it comes back exactly as it was written.
    request json NOT NULL,
    walltime bigint,
    queue text NOT NULL,
    "user" text NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    job_class bigint NOT NULL,
    priority bigint NOT NULL,
    held boolean NOT NULL,
    gathering boolean NOT NULL,
    begin bigint,
    size_min bigint,
    size_max bigint,
    array_tasks bigint,
    array_at_once bigint,
    reservation text,
    preemptible boolean NOT NULL,
    requeue boolean NOT NULL,
    min_runtime bigint NOT NULL,
    on_loss text NOT NULL,
    CHECK ((size_min IS NULL) = (size_max IS NULL)),
    CHECK (array_at_once IS NULL OR array_tasks IS NOT NULL)
);

CREATE TABLE dependencies (
    job bigint NOT NULL REFERENCES submissions,
    position integer NOT NULL,
    kind text NOT NULL,
    -- The job to wait for. It may be one that never came.
    on_job bigint NOT NULL,
    PRIMARY KEY (job, position)
);

-- What became of it.
CREATE TABLE jobs (
    id bigint PRIMARY KEY REFERENCES submissions,
    state text NOT NULL CHECK (
        state IN (
            'gathering', 'pending', 'held', 'allocated', 'running', 'ending',
            'completed', 'failed', 'cancelled', 'timed out', 'rejected'
        )
    ),
    submitted bigint NOT NULL,
    arrival bigint NOT NULL,
    queue text NOT NULL,
    priority bigint NOT NULL,
    walltime bigint,
    ranked bigint NOT NULL,
    eligible bigint,
    size bigint NOT NULL,
    start bigint,
    running bigint,
    deadline bigint,
    expected bigint,
    "end" bigint,
    cause text,
    reason text NOT NULL,
    restarts bigint NOT NULL,
    parent bigint,
    index bigint,
    tasks_started bigint NOT NULL,
    tasks_failed bigint NOT NULL,
    backfilled boolean NOT NULL,
    -- Indexed instead of the state: a job moves without its index entries moving along.
    ended boolean NOT NULL GENERATED ALWAYS AS (
        state IN ('completed', 'failed', 'cancelled', 'timed out', 'rejected')
    ) STORED
) WITH (fillfactor = 70);
CREATE INDEX jobs_that_live ON jobs (id) WHERE NOT ended;
CREATE INDEX tasks_of_arrays ON jobs (parent, index) WHERE parent IS NOT NULL;

-- A promise to a job that waits.
CREATE TABLE plans (
    job bigint PRIMARY KEY REFERENCES jobs,
    start bigint NOT NULL,
    since bigint NOT NULL,
    reason text NOT NULL
) WITH (fillfactor = 70);

-- What a job has committed of each budget, in resource-hours.
CREATE TABLE commitments (
    job bigint NOT NULL REFERENCES jobs,
    budget text NOT NULL,
    amount double precision NOT NULL,
    PRIMARY KEY (job, budget)
);

-- What a job holds. The arrays are columns of its placement, one entry a vertex; seats are one
-- entry a node and shape.
CREATE TABLE allocations (
    job bigint PRIMARY KEY REFERENCES jobs,
    start bigint NOT NULL,
    "end" bigint,
    vertex bigint[] NOT NULL,
    parent bigint[] NOT NULL,
    depth bigint[] NOT NULL,
    needs bigint[] NOT NULL,
    exclusive boolean[] NOT NULL,
    placement_start bigint NOT NULL,
    placement_end bigint NOT NULL,
    placement_queue text,
    subsystem text NOT NULL,
    labels json NOT NULL,
    usage json NOT NULL,
    shapes integer NOT NULL,
    seat_shape bigint[] NOT NULL,
    seat_node bigint[] NOT NULL,
    seat_pods bigint[] NOT NULL,
    -- How many rows it has in tasks; null: its tasks were never listed one by one.
    tasks bigint
);

-- The tasks of a group that has shrunk or grown: where each is or was.
CREATE TABLE tasks (
    job bigint NOT NULL REFERENCES allocations ON DELETE CASCADE,
    task bigint NOT NULL,
    node bigint NOT NULL,
    ended boolean NOT NULL,
    PRIMARY KEY (job, task)
) WITH (fillfactor = 70);

-- Maintenance windows and advance reservations.
CREATE TABLE windows (
    name text PRIMARY KEY,
    start bigint NOT NULL,
    "end" bigint NOT NULL,
    nodes text[] NOT NULL,
    "constraint" json NOT NULL,
    users text[] NOT NULL,
    namespaces text[] NOT NULL,
    maintenance boolean NOT NULL
);

-- Resource-seconds held, decayed to a moment; for fair share.
CREATE TABLE usage (
    namespace text NOT NULL,
    "user" text NOT NULL,
    amount double precision NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (namespace, "user")
) WITH (fillfactor = 70);

-- What an operator said of a queue.
CREATE TABLE queue_states (
    queue text PRIMARY KEY,
    stopped boolean NOT NULL,
    drained boolean NOT NULL
);

-- What each budget's current period has seen, in resource-hours.
CREATE TABLE spent (
    budget text PRIMARY KEY,
    period bigint NOT NULL,
    amount double precision NOT NULL
);

-- The history of every job, in order. Rows are only ever added.
CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    before text,
    after text,
    start bigint,
    reason text NOT NULL
);
CREATE INDEX events_by_job ON events (job, id);

CREATE FUNCTION refuse_to_rewrite_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are only ever added: % refused', TG_OP;
END
$$;
CREATE TRIGGER events_are_only_added
BEFORE UPDATE OR DELETE OR TRUNCATE ON events
FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_history();
