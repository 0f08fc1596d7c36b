-- What a queue needs to resume, and what users query. A queue reads all of it in one transaction,
-- which sees one consistent state.

-- name: needed
-- Jobs that have not ended, and the jobs that they depend on, ended or not.
SELECT id FROM jobs WHERE NOT ended
UNION
SELECT dependencies.on_job
FROM dependencies
INNER JOIN jobs ON jobs.id = dependencies.job
WHERE NOT jobs.ended;

-- name: jobs
SELECT * FROM jobs WHERE id = ANY($1::bigint[]) ORDER BY arrival, id;

-- name: outcomes
-- How the last jobs ended, the oldest first: a later job may depend on them.
SELECT id, state
FROM (SELECT id, state FROM jobs WHERE ended ORDER BY id DESC LIMIT $1) AS last
ORDER BY id;

-- name: ended
-- For each workload its last job that has ended. The tasks of an array have no workload of their
-- own. (The comparison with the empty text allows the partial index to be used, which leaves out
-- jobs without a workload.)
SELECT DISTINCT ON (submissions.workload) submissions.workload, jobs.id
FROM submissions
INNER JOIN jobs ON jobs.id = submissions.id
WHERE
    submissions.workload = ANY($1::text[])
    AND submissions.workload <> ''
    AND submissions.origin = 'cluster'
    AND jobs.ended
    AND jobs.parent IS NULL
ORDER BY submissions.workload ASC, jobs.arrival DESC;

-- name: last_of_objects
-- The last job of each object, by kind, namespace and name; whether it has ended or not.
SELECT DISTINCT ON (asked.number) asked.number, jobs.id
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY
    AS asked (kind, namespace, name, number)
INNER JOIN submissions
    ON
        split_part(submissions.workload, '/', 1) = asked.kind
        AND split_part(submissions.workload, '/', 2) = asked.namespace
        AND split_part(submissions.workload, '/', 3) = asked.name
        AND submissions.workload <> ''
        AND submissions.origin = 'cluster'
INNER JOIN jobs ON jobs.id = submissions.id AND jobs.parent IS NULL
ORDER BY asked.number ASC, jobs.arrival DESC;

-- name: submissions
SELECT * FROM submissions WHERE id = ANY($1::bigint[]);

-- name: dependencies
SELECT * FROM dependencies WHERE job = ANY($1::bigint[]) ORDER BY job, position;

-- name: plans
SELECT * FROM plans WHERE job = ANY($1::bigint[]);

-- name: commitments
SELECT * FROM commitments WHERE job = ANY($1::bigint[]) ORDER BY job, budget;

-- name: allocations
SELECT * FROM allocations ORDER BY job;

-- name: tasks
SELECT * FROM tasks ORDER BY job, task;

-- name: windows
SELECT * FROM windows ORDER BY name;

-- name: usage
SELECT * FROM usage ORDER BY namespace, "user";

-- name: queue_states
SELECT * FROM queue_states ORDER BY queue;

-- name: spent
SELECT * FROM spent ORDER BY budget;

-- name: counters
SELECT * FROM counters;

-- name: system
-- No row if the caller has this version already. The version is the id of the transaction that wrote
-- the row.
SELECT graph, rows, properties, down, config, xmin::text AS version
FROM system
WHERE xmin::text IS DISTINCT FROM $1::text;

-- name: events
-- The events of one job, in order.
SELECT * FROM events WHERE job = $1 ORDER BY id;
