-- name: take
-- Whoever comes when it is over, or held it before under the same name, gets it, with a new fence.
-- It waits for a transaction of the old writer that is under way. The clock is the database's.
UPDATE lease
SET
    fence = fence + 1,
    holder = $1,
    lasts = $2,
    expires = clock_timestamp() + $2
WHERE expires <= clock_timestamp() OR holder = $1
RETURNING fence;

-- name: renew
UPDATE lease
SET expires = clock_timestamp() + lasts
WHERE fence = $1
RETURNING fence;

-- name: release
-- The fence grows here too: who gave the lease back writes no more. Nothing happens if somebody
-- else has it already.
UPDATE lease
SET fence = fence + 1, holder = '', expires = '-infinity'
WHERE fence = $1;

-- name: holder
-- Who has it, and for how many seconds still (below 0: it is over).
SELECT
    holder,
    fence,
    extract(EPOCH FROM greatest(expires, '2000-01-01') - clock_timestamp())::float8 AS seconds
FROM lease;

-- name: claim
-- The first statement of every transaction that changes anything. It returns no row to a writer
-- whose fence is not the current one, and keeps others from taking the lease until the transaction
-- is over. What it returns is the commit before this one: if that is this one, it was done already.
WITH found AS (
    SELECT fence, last_commit FROM lease FOR UPDATE
)
UPDATE lease
SET last_commit = $2, expires = clock_timestamp() + lease.lasts
FROM found
WHERE found.fence = $1
RETURNING found.last_commit;
