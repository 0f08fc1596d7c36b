"""kill -9 at random points of a stream of 2,000 transitions: the end is the same."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys

from tests.integration.store.servers import create_database, fetch

TABLES = {
    # Not `ranked`: it counts steps, and an instant without events may be gone through twice.
    "jobs": (
        "SELECT id, state, submitted, arrival, queue, priority, walltime, eligible, size, start, "
        'running, "end", cause, reason, restarts, parent, index, tasks_started, tasks_failed, '
        "backfilled FROM jobs ORDER BY id"
    ),
    "stories": (
        "SELECT job, at, kind, before, after, start, reason, "
        "row_number() OVER (PARTITION BY job ORDER BY id) FROM events ORDER BY 1, 8"
    ),
    "usage": 'SELECT * FROM usage ORDER BY namespace, "user"',
    "plans": "SELECT * FROM plans ORDER BY job",
    "allocations": "SELECT job FROM allocations ORDER BY job",
}


def start(dsn: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.integration.store.crash.driver", dsn]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def run_to_the_end(dsn: str) -> None:
    with start(dsn) as driver:
        output, _ = driver.communicate()
    assert driver.returncode == 0
    assert output.rstrip().endswith("done")


def run_with_kills(dsn: str, rng: random.Random) -> int:
    """Kill the driver again and again; each life is long enough to get a little further."""
    kills = 0
    while True:
        with start(dsn) as driver:
            assert driver.stdout is not None
            line = driver.stdout.readline()
            while line and not line.startswith("resumed"):
                line = driver.stdout.readline()
            try:
                output, _ = driver.communicate(timeout=rng.uniform(0.02, 0.6))
            except subprocess.TimeoutExpired:
                driver.kill()
                driver.communicate()
                kills += 1
                continue
        assert driver.returncode == 0
        assert output.rstrip().endswith("done")
        return kills


async def read(dsn: str) -> dict[str, list[tuple[object, ...]]]:
    return {name: [tuple(row) for row in await fetch(dsn, query)] for name, query in TABLES.items()}


def test_a_queue_that_is_killed_again_and_again_ends_as_one_that_never_was(
    dsn: str,
) -> None:
    other = asyncio.run(create_database(dsn, "killed"))
    run_to_the_end(dsn)
    kills = run_with_kills(other, random.Random(7))
    undisturbed, disturbed = asyncio.run(read(dsn)), asyncio.run(read(other))
    print(f"{kills} kills, {len(undisturbed['stories'])} events")
    assert kills >= 5
    assert len(undisturbed["stories"]) >= 2000
    assert not undisturbed["plans"] and not undisturbed["allocations"]
    for table, rows in undisturbed.items():
        for mine, theirs in zip(rows, disturbed[table], strict=True):
            assert mine == theirs, table
