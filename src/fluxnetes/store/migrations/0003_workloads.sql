-- What a job stands for, as its submitter refers to it; empty: only itself.
ALTER TABLE submissions ADD COLUMN workload text NOT NULL DEFAULT '';
CREATE INDEX submissions_by_workload ON submissions (workload) WHERE workload <> '';
