-- name: take
-- A holder gets the lease, with a new fence, if it has expired or has the same holder already.
-- The statement waits for a running transaction of the old writer. The clock is the database's.
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
-- The fence grows here too, so that the releasing holder can write no more. Nothing happens if
-- another holder has the lease already.
UPDATE lease
SET fence = fence + 1, holder = '', expires = '-infinity'
WHERE fence = $1;

-- name: holder
-- The holder, and the seconds until the lease expires (below 0: it has expired).
SELECT
    holder,
    fence,
    extract(EPOCH FROM greatest(expires, '2000-01-01') - clock_timestamp())::float8 AS seconds
FROM lease;

-- name: claim
-- The first statement of every transaction that writes. It returns no row to a writer whose fence is
-- not the current one, and prevents others from taking the lease until the transaction ends. It
-- returns the id of the previous commit: if that equals this one's, the commit was done already.
WITH found AS (
    SELECT fence, last_commit FROM lease FOR UPDATE
)
UPDATE lease
SET last_commit = $2, expires = clock_timestamp() + lease.lasts
FROM found
WHERE found.fence = $1
RETURNING found.last_commit;
