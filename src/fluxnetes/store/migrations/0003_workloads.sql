-- What a job stands for, in the words of whoever submitted it; empty: nothing but itself.
ALTER TABLE submissions ADD COLUMN workload text NOT NULL DEFAULT '';
CREATE INDEX submissions_by_workload ON submissions (workload) WHERE workload <> '';
