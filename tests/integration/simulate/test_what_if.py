"""`fluxnetes simulate --from-store` on a queue in a real Postgres."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.cli.entry import main
from fluxnetes.graph.writers.jgf import write_jgf
from fluxnetes.match.matcher import Matcher
from fluxnetes.store.embedded import EmbeddedServer
from fluxnetes.store.store import open_store
from tests.integration.simulate.command import FLUXNETES, run_simulate
from tests.integration.simulate.pages import PAGE
from tests.unit.simulate.queues import CLUSTER, HEAD, LONG, NOW, PASSING, RUNNING, changes_of


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """The data folder of a server with a queue: one job runs, one was backfilled, two wait."""
    # Not a folder of pytest's: the server of root runs as somebody else, who must get there.
    folder = Path(tempfile.mkdtemp(prefix="fluxnetes-test-"))
    folder.chmod(0o711)
    server = EmbeddedServer(folder / "data")
    server.start()
    asyncio.run(_fill(server.dsn))
    yield folder / "data"
    server.stop()
    shutil.rmtree(folder)


@pytest.fixture
def dsn(data: Path) -> str:
    return EmbeddedServer(data).dsn


async def _fill(dsn: str) -> None:
    async with open_store(dsn) as store:
        lease = await store.take("a test")
        assert lease is not None
        for changes in changes_of(RUNNING, HEAD, PASSING, LONG):
            await store.commit(changes, lease.fence)
        await store.release(lease)


def test_todays_queue_is_run_ahead_as_it_is_and_with_something_changed(dsn: str) -> None:
    done = run_simulate(
        *("--from-store", "--dsn", dsn, "--now", NOW, "--nodes", 4, "--policy", "easy"),
        *("--policy", "conservative", "--add-nodes", 100, "--add-job", "4:600", "--json", "-"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["scenarios"]
    assert list(found) == ["easy", "conservative", "+100 nodes", "+1 job"]
    starts = {name: {j["job"]: j["start"] - NOW for j in s["jobs"]} for name, s in found.items()}
    assert starts["easy"] == starts["conservative"] == {2: 100, 4: 150}
    assert starts["+100 nodes"] == {2: 0, 4: 0}
    assert starts["+1 job"] == {2: 100, 4: 150, 5: 240}
    assert (found["+100 nodes"]["earlier"], found["+100 nodes"]["later"]) == (2, 0)


def test_the_table_compares_with_today(dsn: str) -> None:
    done = run_simulate("--from-store", "--dsn", dsn, "--now", NOW, "--nodes", 4, "--add-nodes", 4)
    assert done.returncode == 0, done.stderr
    heading, columns, *rows = done.stdout.splitlines()
    assert heading == "2 jobs wait; compared with easy:"
    assert columns.split() == ["easy", "+4", "nodes"]
    assert ["Mean", "wait", "from", "now", "00:02:05", "00:00:25"] in [row.split() for row in rows]


def test_the_command_of_the_page_runs(data: Path, tmp_path: Path) -> None:
    (command,) = re.findall(r"(?ms)^```sh\n(.*?)^```$", PAGE.read_text())
    matcher = Matcher(CLUSTER.graph)
    (tmp_path / "cluster.jgf").write_text(write_jgf(matcher.graph, matcher.find("status=up")))
    path = f"{FLUXNETES.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "FLUXNETES_DATA": str(data)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    columns = done.stdout.splitlines()[1].split()
    assert columns == ["easy", "conservative", "+100", "nodes", "+1", "job"]


def test_a_queue_of_another_cluster_is_refused(dsn: str) -> None:
    done = run_simulate("--from-store", "--dsn", dsn, "--now", NOW, "--nodes", 1)
    assert done.returncode == 1
    assert "give the graph of the queue's own cluster with --graph" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint", "status"),
    [
        (["--from-store"], "how large is the cluster?", 1),
        (["--from-store", "t.swf"], "two workloads", 2),
        (["--from-store", "--html", "x.html"], "--html: is for traces; take --json", 2),
        (["t.swf", "--add-nodes", 3], "--add-nodes: is about a queue: give --from-store", 2),
        (["--from-store", "--add-job", "64"], "such as 64:3600", 2),
        (["--from-store", "--nodes", 4, "--dsn", "mysql://x"], "the DSN makes no sense", 1),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    arguments: list[object], complaint: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *map(str, arguments)]) == status
    assert complaint in " ".join(capsys.readouterr().err.split())
