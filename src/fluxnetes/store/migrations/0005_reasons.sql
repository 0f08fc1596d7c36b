-- Reasons as data: the code, the message and its arguments, beside the text for people. Rows of older
-- versions keep their text and have the code Unknown; only what a group withdrew is mapped, since
-- a decision depends on it.
ALTER TABLE jobs ADD COLUMN reason_data json;
ALTER TABLE plans ADD COLUMN reason_data json;
ALTER TABLE events ADD COLUMN reason_data json;

UPDATE jobs
SET reason_data = json_build_object(
        'code', 'Withdrawn',
        'message', 'TEXT',
        'args', json_build_object('text', reason)
    )
WHERE reason LIKE 'withdrawn: %';

ALTER TABLE jobs ADD COLUMN reason_code text GENERATED ALWAYS AS (
    CASE WHEN reason <> '' THEN coalesce(reason_data ->> 'code', 'Unknown') END
) STORED;
ALTER TABLE plans ADD COLUMN reason_code text GENERATED ALWAYS AS (
    CASE WHEN reason <> '' THEN coalesce(reason_data ->> 'code', 'Unknown') END
) STORED;
ALTER TABLE events ADD COLUMN reason_code text GENERATED ALWAYS AS (
    CASE WHEN reason <> '' THEN coalesce(reason_data ->> 'code', 'Unknown') END
) STORED;

-- Where a job came from. Until now the first letters of its workload said so.
ALTER TABLE submissions ADD COLUMN origin text NOT NULL DEFAULT 'direct';
UPDATE submissions
SET
    origin = CASE
        WHEN workload LIKE 'call:match:%' THEN 'call-match'
        WHEN workload LIKE 'call:submit:%' THEN 'call-submit'
        WHEN workload LIKE 'match:%' THEN 'matcher'
        ELSE 'cluster'
    END,
    workload = regexp_replace(workload, '^(call:match:|call:submit:|match:)', '')
WHERE workload <> '';
