-- name: prepare
-- All tables are in one schema. An administrator may have created it, if the user may not.
DO $$
BEGIN
    IF to_regnamespace('fluxnetes') IS NULL THEN
        CREATE SCHEMA fluxnetes;
    END IF;
END
$$;
CREATE TABLE IF NOT EXISTS fluxnetes.migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied timestamptz NOT NULL DEFAULT now()
);

-- name: lock
-- One process migrates, the others wait. The number is arbitrary, but unique to Fluxnetes.
SELECT pg_advisory_xact_lock(5125486823490561);

-- name: applied
SELECT coalesce(max(number), 0) FROM migrations;

-- name: record
INSERT INTO migrations (number, name) VALUES ($1, $2);
