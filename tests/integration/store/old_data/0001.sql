-- Rows as a database at migration 1 holds them (pg_dump --data-only, without what it says besides).

INSERT INTO submissions (id, request, walltime, queue, "user", namespace, name, job_class, priority, held, gathering, begin, size_min, size_max, array_tasks, array_at_once, reservation, preemptible, requeue, min_runtime, on_loss) VALUES
(1, '{"jobspec":{"resources":[{"type":"node","count":[2,2,"+",1],"children":[{"type":"slot","count":[1,1,"+",1],"children":[{"type":"core","count":[4,4,"+",1]}],"label":"default"}]}],"duration":3600.0,"constraint":{"and":[{"hostlist":["n1","n2"]},{"not":[{"ranks":[3]}]}]},"attributes":{"user":{"project":"Gr\u00fc\u00dfe","factor":1.0}}}}', 3600, 'batch', 'ada', 'lab', 'job 1', 0, 0, false, false, NULL, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'fail'),
(2, '{"gang":{"shapes":[{"count":2,"amounts":[["cpu",500],["memory",64]],"constraint":{"properties":[["ssd"],["old"]]}},{"count":1,"amounts":[["gpu",1]]}],"shared":[["licence",30]],"queue":"batch"}}', 3600, 'batch', 'ada', 'lab', 'job 2', 0, 0, false, false, NULL, 1, 4, NULL, NULL, NULL, false, true, 0, 'fail'),
(3, '{"jobspec":{"resources":[{"type":"node","count":[2,2,"+",1],"children":[{"type":"slot","count":[1,1,"+",1],"children":[{"type":"core","count":[4,4,"+",1]}],"label":"default"}]}],"duration":3600.0,"constraint":{"and":[{"hostlist":["n1","n2"]},{"not":[{"ranks":[3]}]}]},"attributes":{"user":{"project":"Gr\u00fc\u00dfe","factor":1.0}}}}', 3600, 'batch', 'ada', 'lab', 'job 3', 0, 0, false, false, NULL, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'fail'),
(4, '{"jobspec":{"resources":[{"type":"node","count":[2,2,"+",1],"children":[{"type":"slot","count":[1,1,"+",1],"children":[{"type":"core","count":[4,4,"+",1]}],"label":"default"}]}],"duration":3600.0,"constraint":{"and":[{"hostlist":["n1","n2"]},{"not":[{"ranks":[3]}]}]},"attributes":{"user":{"project":"Gr\u00fc\u00dfe","factor":1.0}}}}', 3600, 'batch', 'ada', 'lab', 'job 4', 0, 0, true, false, 9000, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'fail'),
(5, '{"jobspec":{"resources":[{"type":"node","count":[2,2,"+",1],"children":[{"type":"slot","count":[1,1,"+",1],"children":[{"type":"core","count":[4,4,"+",1]}],"label":"default"}]}],"duration":3600.0,"constraint":{"and":[{"hostlist":["n1","n2"]},{"not":[{"ranks":[3]}]}]},"attributes":{"user":{"project":"Gr\u00fc\u00dfe","factor":1.0}}}}', 3600, 'batch', 'ada', 'lab', 'job 5', 0, 0, false, false, NULL, NULL, NULL, 100, 10, NULL, true, false, 60, 'requeue'),
(6, '{"jobspec":{"resources":[{"type":"node","count":[2,2,"+",1],"children":[{"type":"slot","count":[1,1,"+",1],"children":[{"type":"core","count":[4,4,"+",1]}],"label":"default"}]}],"duration":3600.0,"constraint":{"and":[{"hostlist":["n1","n2"]},{"not":[{"ranks":[3]}]}]},"attributes":{"user":{"project":"Gr\u00fc\u00dfe","factor":1.0}}}}', 3600, 'batch', 'ada', 'lab', 'job 6', 0, 0, false, false, NULL, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'fail'),
(7, '{"jobspec":{"resources":[{"type":"node","count":[2,2,"+",1],"children":[{"type":"slot","count":[1,1,"+",1],"children":[{"type":"core","count":[4,4,"+",1]}],"label":"default"}]}],"duration":3600.0,"constraint":{"and":[{"hostlist":["n1","n2"]},{"not":[{"ranks":[3]}]}]},"attributes":{"user":{"project":"Gr\u00fc\u00dfe","factor":1.0}}}}', 3600, 'batch', 'ada', 'lab', 'job 7', 0, 0, false, false, NULL, NULL, NULL, NULL, NULL, NULL, false, true, 0, 'fail'),
(8, '{"gang":{"shapes":[{"count":2,"amounts":[["cpu",500],["memory",64]],"constraint":{"properties":[["ssd"],["old"]]}},{"count":1,"amounts":[["gpu",1]]}],"shared":[["licence",30]],"queue":"batch"}}', 3600, 'batch', 'ada', 'lab', 'job 8', 2, 0, false, true, NULL, NULL, NULL, NULL, NULL, 'demo', false, true, 0, 'fail');

INSERT INTO dependencies (job, "position", kind, on_job) VALUES
(3, 0, 'afterok', 1),
(3, 1, 'afterany', 2);

INSERT INTO jobs (id, state, submitted, arrival, queue, priority, walltime, ranked, eligible, size, start, running, deadline, expected, "end", cause, reason, restarts, parent, index, tasks_started, tasks_failed, backfilled) VALUES
(1, 'completed', 101, 1, 'batch', 0, 3600, 1, NULL, 0, 110, 111, NULL, NULL, 200, NULL, '', 0, NULL, NULL, 0, 0, true),
(2, 'running', 102, 2, 'batch', 0, 3600, 2, 103, 2, 120, 125, 3720, 3720, NULL, NULL, '', 0, NULL, NULL, 0, 0, false),
(3, 'pending', 103, 3, 'batch', 0, 3600, 3, 130, 0, NULL, NULL, NULL, NULL, NULL, NULL, '', 1, NULL, NULL, 0, 0, false),
(4, 'held', 104, 4, 'urgent', 5, NULL, 4, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, '', 0, NULL, NULL, 0, 0, false),
(5, 'pending', 105, 5, 'batch', 0, 3600, 5, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, '', 0, NULL, NULL, 2, 1, false),
(6, 'ending', 106, 6, 'batch', 0, 3600, 6, NULL, 0, 130, 131, 140, 170, NULL, 'timed out', 'its walltime is over', 0, 5, 1, 0, 0, false),
(7, 'rejected', 107, 7, 'batch', 0, 3600, 7, NULL, 0, NULL, NULL, NULL, NULL, 107, NULL, 'there is no queue urgent', 0, NULL, NULL, 0, 0, false),
(8, 'gathering', 108, 8, 'batch', 0, 3600, 8, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, '', 0, NULL, NULL, 0, 0, false);

INSERT INTO plans (job, start, since, reason) VALUES
(3, 4000, 7, 'nodes were lost');

INSERT INTO commitments (job, budget, amount) VALUES
(2, 'lab', 1.5),
(2, 'batch', 0.25);

INSERT INTO allocations (job, start, "end", vertex, parent, depth, needs, exclusive, placement_start, placement_end, placement_queue, subsystem, labels, usage, shapes, seat_shape, seat_node, seat_pods, tasks) VALUES
(2, 120, 3720, '{0,1,2,3}', '{-1,0,1,2}', '{0,1,2,3}', '{1,2,3,4}', '{f,t,t,t}', 0, 60, 'batch', 'containment', '{"3":"big"}', 'null', 2, '{0,0,1}', '{1,2,3}', '{1,1,1}', 3),
(6, 130, NULL, '{0,1}', '{-1,0}', '{0,1}', '{1,2}', '{f,t}', 0, 60, NULL, 'containment', '{}', 'null', 0, '{}', '{}', '{}', NULL);

INSERT INTO tasks (job, task, node, ended) VALUES
(2, 0, 1, false),
(2, 1, 2, true),
(2, 2, 3, false);

INSERT INTO windows (name, start, "end", nodes, "constraint", users, namespaces, maintenance) VALUES
('upgrade', 5000, 6000, '{n1,n2}', '{"hostlist":["n1","n2"]}', '{}', '{}', true),
('demo', 7000, 8000, '{n3}', 'null', '{ada}', '{lab}', false);

INSERT INTO usage (namespace, "user", amount, at) VALUES
('lab', 'ada', 12345.678, 200);

INSERT INTO queue_states (queue, stopped, drained) VALUES
('urgent', true, false);

INSERT INTO spent (budget, period, amount) VALUES
('lab', 3, 17.25);

INSERT INTO counters (name, value) VALUES
('step', 41),
('arrivals', 8);

INSERT INTO events (id, job, at, kind, before, after, start, reason) OVERRIDING SYSTEM VALUE VALUES
(1, 1, 101, 'transition', NULL, 'pending', NULL, 'submitted'),
(2, 2, 102, 'transition', NULL, 'pending', NULL, 'submitted'),
(3, 3, 103, 'transition', NULL, 'pending', NULL, 'submitted'),
(4, 4, 104, 'transition', NULL, 'pending', NULL, 'submitted'),
(5, 5, 105, 'transition', NULL, 'pending', NULL, 'submitted'),
(6, 6, 106, 'transition', NULL, 'pending', NULL, 'submitted'),
(7, 7, 107, 'transition', NULL, 'rejected', NULL, 'submitted'),
(8, 8, 108, 'transition', NULL, 'gathering', NULL, 'submitted'),
(9, 3, 150, 'planned', NULL, NULL, 4000, 'nodes were lost'),
(10, 1, 200, 'transition', 'running', 'completed', NULL, '');
