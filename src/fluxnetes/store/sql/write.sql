-- The statements of a commit: each takes columns as arrays and writes all rows at once.

-- name: submissions
INSERT INTO submissions (
    id, request, walltime, queue, "user", namespace, name, job_class, priority, held, gathering,
    begin, size_min, size_max, array_tasks, array_at_once, reservation, preemptible, requeue,
    min_runtime, on_loss, workload, origin
)
SELECT
    id, request::json, walltime, queue, "user", namespace, name, job_class, priority, held,
    gathering, begin, size_min, size_max, array_tasks, array_at_once, reservation, preemptible,
    requeue, min_runtime, on_loss, workload, origin
FROM unnest(
    $1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::bigint[], $9::bigint[], $10::boolean[], $11::boolean[], $12::bigint[], $13::bigint[],
    $14::bigint[], $15::bigint[], $16::bigint[], $17::text[], $18::boolean[], $19::boolean[],
    $20::bigint[], $21::text[], $22::text[], $23::text[]
) AS given (
    id, request, walltime, queue, "user", namespace, name, job_class, priority, held, gathering,
    begin, size_min, size_max, array_tasks, array_at_once, reservation, preemptible, requeue,
    min_runtime, on_loss, workload, origin
)
ON CONFLICT (id) DO UPDATE SET
    request = excluded.request,
    walltime = excluded.walltime,
    queue = excluded.queue,
    "user" = excluded."user",
    namespace = excluded.namespace,
    name = excluded.name,
    job_class = excluded.job_class,
    priority = excluded.priority,
    held = excluded.held,
    gathering = excluded.gathering,
    begin = excluded.begin,
    size_min = excluded.size_min,
    size_max = excluded.size_max,
    array_tasks = excluded.array_tasks,
    array_at_once = excluded.array_at_once,
    reservation = excluded.reservation,
    preemptible = excluded.preemptible,
    requeue = excluded.requeue,
    min_runtime = excluded.min_runtime,
    on_loss = excluded.on_loss,
    workload = excluded.workload,
    origin = excluded.origin;

-- name: forget_dependencies
DELETE FROM dependencies WHERE job = ANY($1::bigint[]);

-- name: dependencies
INSERT INTO dependencies (job, position, kind, on_job)
SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[]);

-- name: jobs
INSERT INTO jobs (
    id, state, submitted, arrival, queue, priority, walltime, ranked, eligible, size, start,
    running, deadline, expected, "end", cause, reason, reason_data, restarts, parent, index,
    tasks_started, tasks_failed, backfilled
)
SELECT * FROM unnest(
    $1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
    $14::bigint[], $15::bigint[], $16::text[], $17::text[], $18::json[], $19::bigint[],
    $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[], $24::boolean[]
)
ON CONFLICT (id) DO UPDATE SET
    state = excluded.state,
    submitted = excluded.submitted,
    arrival = excluded.arrival,
    queue = excluded.queue,
    priority = excluded.priority,
    walltime = excluded.walltime,
    ranked = excluded.ranked,
    eligible = excluded.eligible,
    size = excluded.size,
    start = excluded.start,
    running = excluded.running,
    deadline = excluded.deadline,
    expected = excluded.expected,
    "end" = excluded."end",
    cause = excluded.cause,
    reason = excluded.reason,
    reason_data = excluded.reason_data,
    restarts = excluded.restarts,
    parent = excluded.parent,
    index = excluded.index,
    tasks_started = excluded.tasks_started,
    tasks_failed = excluded.tasks_failed,
    backfilled = excluded.backfilled;

-- name: forget_plans
DELETE FROM plans WHERE job = ANY($1::bigint[]);

-- name: plans
INSERT INTO plans (job, start, since, reason, reason_data)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::json[])
ON CONFLICT (job) DO UPDATE SET
    start = excluded.start,
    since = excluded.since,
    reason = excluded.reason,
    reason_data = excluded.reason_data;

-- name: forget_commitments
DELETE FROM commitments WHERE job = ANY($1::bigint[]);

-- name: commitments
INSERT INTO commitments (job, budget, amount)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::double precision[]);

-- name: forget_allocations
-- The tasks of an allocation are deleted with it (ON DELETE CASCADE).
DELETE FROM allocations WHERE job = ANY($1::bigint[]);

-- name: allocations
-- Arrays of arrays must be rectangular. So the vertices of all jobs are concatenated, as are their
-- seats, and each job has the first and the last index of its own.
INSERT INTO allocations (
    job, start, "end", placement_start, placement_end, placement_queue, subsystem, labels, usage,
    shapes, tasks, vertex, parent, depth, needs, exclusive, seat_shape, seat_node, seat_pods
)
SELECT
    job, start, "end", placement_start, placement_end, placement_queue, subsystem, labels, usage,
    shapes, tasks,
    ($16::bigint[])[first_vertex:last_vertex],
    ($17::bigint[])[first_vertex:last_vertex],
    ($18::bigint[])[first_vertex:last_vertex],
    ($19::bigint[])[first_vertex:last_vertex],
    ($20::boolean[])[first_vertex:last_vertex],
    ($21::bigint[])[first_seat:last_seat],
    ($22::bigint[])[first_seat:last_seat],
    ($23::bigint[])[first_seat:last_seat]
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
    $8::json[], $9::json[], $10::integer[], $11::bigint[], $12::integer[], $13::integer[],
    $14::integer[], $15::integer[]
) AS given (
    job, start, "end", placement_start, placement_end, placement_queue, subsystem, labels, usage,
    shapes, tasks, first_vertex, last_vertex, first_seat, last_seat
)
ON CONFLICT (job) DO UPDATE SET
    start = excluded.start,
    "end" = excluded."end",
    vertex = excluded.vertex,
    parent = excluded.parent,
    depth = excluded.depth,
    needs = excluded.needs,
    exclusive = excluded.exclusive,
    placement_start = excluded.placement_start,
    placement_end = excluded.placement_end,
    placement_queue = excluded.placement_queue,
    subsystem = excluded.subsystem,
    labels = excluded.labels,
    usage = excluded.usage,
    shapes = excluded.shapes,
    seat_shape = excluded.seat_shape,
    seat_node = excluded.seat_node,
    seat_pods = excluded.seat_pods,
    tasks = excluded.tasks;

-- name: allocation_times
-- For allocations whose placement did not change.
UPDATE allocations
SET start = given.start, "end" = given."end"
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS given (job, start, "end")
WHERE allocations.job = given.job;

-- name: forget_tasks
DELETE FROM tasks WHERE job = ANY($1::bigint[]);

-- name: tasks
INSERT INTO tasks (job, task, node, ended)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[]);

-- name: ended_tasks
UPDATE tasks
SET ended = true
FROM unnest($1::bigint[], $2::bigint[]) AS given (job, task)
WHERE tasks.job = given.job AND tasks.task = given.task;

-- name: forget_windows
DELETE FROM windows WHERE name = ANY($1::text[]);

-- name: window
INSERT INTO windows (name, start, "end", nodes, "constraint", users, namespaces, maintenance)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (name) DO UPDATE SET
    start = excluded.start,
    "end" = excluded."end",
    nodes = excluded.nodes,
    "constraint" = excluded."constraint",
    users = excluded.users,
    namespaces = excluded.namespaces,
    maintenance = excluded.maintenance;

-- name: usage
INSERT INTO usage (namespace, "user", amount, at)
SELECT * FROM unnest($1::text[], $2::text[], $3::double precision[], $4::bigint[])
ON CONFLICT (namespace, "user") DO UPDATE SET
    amount = excluded.amount,
    at = excluded.at;

-- name: queue_states
INSERT INTO queue_states (queue, stopped, drained)
SELECT * FROM unnest($1::text[], $2::boolean[], $3::boolean[])
ON CONFLICT (queue) DO UPDATE SET
    stopped = excluded.stopped,
    drained = excluded.drained;

-- name: spent
INSERT INTO spent (budget, period, amount)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::double precision[])
ON CONFLICT (budget) DO UPDATE SET
    period = excluded.period,
    amount = excluded.amount;

-- name: counters
-- Counters only grow.
INSERT INTO counters (name, value)
SELECT * FROM unnest($1::text[], $2::bigint[])
ON CONFLICT (name) DO UPDATE SET
    value = greatest(counters.value, excluded.value);

-- name: events
-- Numbered in the given order.
INSERT INTO events (job, at, kind, before, after, start, reason, reason_data)
SELECT job, at, kind, before, after, start, reason, reason_data
FROM unnest(
    $1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
    $8::json[]
) WITH ORDINALITY AS given (
    job, at, kind, before, after, start, reason, reason_data, position
)
ORDER BY position;

-- name: system
INSERT INTO system (graph, rows, properties, down, config)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (only_row) DO UPDATE SET
    graph = excluded.graph,
    rows = excluded.rows,
    properties = excluded.properties,
    down = excluded.down,
    config = excluded.config;

-- name: system_properties
UPDATE system SET properties = $1;

-- name: system_state
-- For a system whose graph did not change.
UPDATE system SET down = $1, config = $2;
