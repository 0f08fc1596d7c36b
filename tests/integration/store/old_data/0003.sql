-- Rows as a database at migration 3 holds them.

INSERT INTO submissions (id, request, walltime, queue, "user", namespace, name, job_class, priority, held, gathering, begin, size_min, size_max, array_tasks, array_at_once, reservation, preemptible, requeue, min_runtime, on_loss, workload) VALUES
(1, '{"gang":{"shapes":[{"count":2,"amounts":[["cpu",500]]}]}}', 3600, 'batch', 'ada', 'lab', 'job 1', 0, 0, false, false, NULL, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'requeue', 'Job/lab/sweep/0d8f'),
(2, '{"gang":{"shapes":[{"count":1,"amounts":[["cpu",500]]}]}}', NULL, 'batch', 'ada', 'lab', 'job 2', 0, 0, false, false, NULL, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'fail', '');

INSERT INTO jobs (id, state, submitted, arrival, queue, priority, walltime, ranked, eligible, size, start, running, deadline, expected, "end", cause, reason, restarts, parent, index, tasks_started, tasks_failed, backfilled) VALUES
(1, 'pending', 101, 1, 'batch', 0, 3600, 1, 101, 0, NULL, NULL, NULL, NULL, NULL, NULL, '', 0, NULL, NULL, 0, 0, false),
(2, 'held', 102, 2, 'batch', 0, NULL, 2, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, '', 0, NULL, NULL, 0, 0, false);

INSERT INTO counters (name, value) VALUES
('step', 3),
('arrivals', 2);
