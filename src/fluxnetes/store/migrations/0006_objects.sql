-- The last job of an object by its kind, namespace and name: work that comes later may depend on it,
-- when the object itself is gone.
CREATE INDEX submissions_by_object ON submissions (
    split_part(workload, '/', 1), split_part(workload, '/', 2), split_part(workload, '/', 3)
) WHERE workload <> '' AND origin = 'cluster';
