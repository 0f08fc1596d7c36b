-- Rows as a database at migration 5 holds them: a job of a cluster's workload that runs and a caller's
-- job that waits, with reasons as data, and the system that they are on. Rows 2 and 3 of the graph, a
-- node and its pool, were removed; row 6, a node, is down. Properties are no longer those of the
-- document.

INSERT INTO system (graph, rows, properties, down, config) VALUES (
    decode(
    '1f8b0800000000000203ad93dd6e83300c85dfc5d74c40c58fc4ab4cd5148245a3d1c01253a94379f725282d' ||
    '64a3dd5aed2e3ec7311f27f204ad62c301aa0964dfa086ea7502d1400509447044620d23e66c3a0f6865de8d' ||
    '9a5059b3661a253b866228b8196e5812c128c5c79b3f2b26dfa17a4923d0e2d3b6dbc3c0e8a0dd67782f8909' ||
    '794449764e7c1d648c893c59ba4dd6098e926348b688a1b04596fe24cb92dfd1e2eb481341234e428bbab377' ||
    '498db84067dbd02ef490d82bbeaa3d67bae2cc2e9c8f0418d70e6f50fd808a04cead5a3bb2b32d56e9e637de' ||
    '7d18bfbdf92c2cc556a2f956a2c95f32ade379e4bd448be712e59e73b7e22c2e9cbb4712e50e4f13a3d1b6a5' ||
    '0b58f98f09964f27c86f27b88f009bd62fbbee47c5d12f3c31d522cd3be67e67dbcb422f5b7bf99d7b45e815' ||
    '6baf04b337e60b87afeb918e040000',
    'hex'), '{0,1,4,5,6,7}', '{"rack":{"r2":[2,6]},"ssd":{"no":[4]}}', '{6}',
    '{"queues":[{"name":"batch","policy":"hybrid","reservations":16,"constraint":{"properties":[["ssd"],[]]},"per_user":{"running":8,"resources":{"cpu":8000}}},{"name":"urgent","priority":5,"preempts":true}],"weights":{"fair_share":2.5},"fair_share":{"users":[["lab","ada",2.0]]},"charge":{"cpu":0.001},"budgets":[{"name":"lab","amount":100.0,"type":"cpu","namespace":"lab"}]}'
);

INSERT INTO submissions (id, request, walltime, queue, "user", namespace, name, job_class, priority, held, gathering, begin, size_min, size_max, array_tasks, array_at_once, reservation, preemptible, requeue, min_runtime, on_loss, workload, origin) VALUES
(1, '{"gang":{"shapes":[{"count":1,"amounts":[["cpu",500]]}]}}', 3600, 'batch', 'ada', 'lab', 'job 1', 0, 0, false, false, NULL, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'fail', 'Job/lab/sweep/0d8f', 'cluster'),
(2, '{"gang":{"shapes":[{"count":2,"amounts":[["cpu",500]]}]}}', 60, 'batch', 'bob', 'lab', 'job 2', 0, 0, false, false, NULL, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'fail', 'key', 'call-submit');

INSERT INTO jobs (id, state, submitted, arrival, queue, priority, walltime, ranked, eligible, size, start, running, deadline, expected, "end", cause, reason, reason_data, restarts, parent, index, tasks_started, tasks_failed, backfilled) VALUES
(1, 'running', 101, 1, 'batch', 0, 3600, 1, 101, 0, 110, 111, 3710, 3710, NULL, NULL, '', NULL, 0, NULL, NULL, 0, 0, false),
(2, 'pending', 102, 2, 'batch', 0, 60, 2, 102, 0, NULL, NULL, NULL, NULL, NULL, NULL, 'requeued: nodes were lost: a, b', '{"code":"Returned","message":"REQUEUED","args":{"reason":{"reason":{"code":"NodesLost","message":"NODES_LOST","args":{"nodes":"a, b"}}}}}', 1, NULL, NULL, 0, 0, false);

INSERT INTO plans (job, start, since, reason, reason_data) VALUES
(2, 3710, 2, 'job 1 is ordered before it', '{"code":"Priority","message":"ORDERED_BEFORE","args":{"job":{"job":1}}}');

INSERT INTO allocations (job, start, "end", vertex, parent, depth, needs, exclusive, placement_start, placement_end, placement_queue, subsystem, labels, usage, shapes, seat_shape, seat_node, seat_pods, tasks) VALUES
(1, 110, 3710, '{5,4,0}', '{4,0,-1}', '{2,1,0}', '{500,1,1}', '{t,f,f}', 110, 3710, NULL, 'containment', '{}', 'null', 1, '{0}', '{4}', '{1}', NULL);

INSERT INTO counters (name, value) VALUES
('step', 3),
('arrivals', 2);

INSERT INTO events (id, job, at, kind, before, after, start, reason, reason_data) OVERRIDING SYSTEM VALUE VALUES
(1, 1, 101, 'transition', NULL, 'pending', NULL, 'submitted', '{"code":"Submitted","message":"SUBMITTED"}'),
(2, 1, 110, 'transition', 'pending', 'allocated', NULL, '', NULL),
(3, 1, 111, 'transition', 'allocated', 'running', NULL, '', NULL);
