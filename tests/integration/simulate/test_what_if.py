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
from typing import Any

import pytest

from fluxnetes.cli.entry import main
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.patch import GraphPatch
from fluxnetes.graph.writers.whole import write_graph
from fluxnetes.queue.config import BackfillPolicy, LimitConfig, QueueConfig, SchedulerConfig
from fluxnetes.queue.jobs import Submission
from fluxnetes.simulate.cluster import SimulatedCluster, survey
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.store import open_store
from tests.integration.simulate.command import FLUXNETES, run_simulate
from tests.integration.simulate.pages import PAGE
from tests.integration.store.servers import wipe
from tests.unit.simulate.queues import CLUSTER, HEAD, LONG, NOW, PASSING, RUNNING, changes_of, job

FAIR = SchedulerConfig(
    queues=(QueueConfig("default", BackfillPolicy.EASY, cap=LimitConfig(running=2)),)
)
"""How the queue of these tests is set up: two jobs at a time."""

AHEAD = ("--from-store", "--now", NOW)


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    # Not a folder of pytest's: as root, the server runs as another user, which needs access to it.
    folder = Path(tempfile.mkdtemp(prefix="fluxnetes-test-"))
    folder.chmod(0o711)
    server = EmbeddedServer(folder / "data")
    server.start()
    yield server
    server.stop()
    shutil.rmtree(folder)


async def fill(
    dsn: str,
    config: SchedulerConfig | None,
    *submissions: Submission,
    cluster: SimulatedCluster = CLUSTER,
) -> None:
    """A queue in an empty database; without a configuration, its system is not stored."""
    await wipe(dsn)
    async with open_store(dsn) as store:
        lease = await store.take("a test")
        assert lease is not None
        if config is not None:
            await store.keep_system(cluster.graph, config, lease.fence)
        for changes in changes_of(*submissions, cluster=cluster):
            await store.commit(changes, lease.fence)
        await store.release(lease)


@pytest.fixture
def dsn(server: EmbeddedServer) -> str:
    """A queue of a system: one job runs, one was backfilled, two wait."""
    asyncio.run(fill(server.dsn, FAIR, RUNNING, HEAD, PASSING, LONG))
    return server.dsn


@pytest.fixture
def without_system(server: EmbeddedServer) -> str:
    """The same, without a stored system."""
    asyncio.run(fill(server.dsn, None, RUNNING, HEAD, PASSING, LONG))
    return server.dsn


def forecast(dsn: str, *arguments: object) -> dict[str, dict[int, int]]:
    """In each scenario the start of each job that waited, from now."""
    found = document(dsn, *arguments)["scenarios"]
    return {name: {j["job"]: j["start"] - NOW for j in s["jobs"]} for name, s in found.items()}


def document(dsn: str, *arguments: object) -> dict[str, Any]:
    done = run_simulate(*AHEAD, "--dsn", dsn, *arguments, "--json", "-")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def renamed(*names: str) -> ResourceGraph:
    """Nodes of one core in this order."""
    graph = ResourceGraph()
    patch = GraphPatch(graph)
    root = patch.vertex("cluster", id=0)
    for rank, name in enumerate(names):
        node = patch.vertex("node", id=rank, name=name, rank=rank)
        patch.edge(root, node)
        patch.edge(node, patch.vertex("core", id=0, rank=rank))
    graph.apply(patch)
    return graph


def test_the_store_is_all_that_it_takes(dsn: str) -> None:
    assert forecast(dsn) == {"today": {2: 100, 4: 150}}


def test_todays_queue_is_run_ahead_as_it_is_and_with_something_changed(dsn: str) -> None:
    starts = forecast(
        dsn,
        *("--policy", "fcfs", "--policy", "conservative"),
        *("--add-nodes", 100, "--add-job", "4:600"),
    )
    assert list(starts) == ["today", "fcfs", "conservative", "+100 nodes", "+1 job"]
    assert starts["today"] == starts["conservative"] == {2: 100, 4: 150}
    # Two jobs run already, and no more may.
    assert starts["+100 nodes"] == {2: 60, 4: 100}
    assert starts["+1 job"] == {2: 100, 4: 150, 5: 240}


@pytest.mark.parametrize(("at_once", "passes_at"), [(3, 60), (1, 150)])
def test_a_policy_replaces_that_of_every_queue_and_leaves_its_limits(
    server: EmbeddedServer, at_once: int, passes_at: int
) -> None:
    """Under fcfs the last job waits for its turn; under easy it passes, if as many may run."""
    config = SchedulerConfig(
        queues=(QueueConfig(policy=BackfillPolicy.FCFS, cap=LimitConfig(running=at_once)),)
    )
    asyncio.run(fill(server.dsn, config, RUNNING, HEAD, PASSING, job(4, 1, 30)))
    starts = forecast(server.dsn, "--policy", "easy")
    assert starts == {"today": {2: 100, 4: 150}, "easy": {2: 100, 4: passes_at}}


def test_the_table_compares_with_today(dsn: str) -> None:
    done = run_simulate(*AHEAD, "--dsn", dsn, "--add-nodes", 4)
    assert done.returncode == 0, done.stderr
    heading, columns, *rows = done.stdout.splitlines()
    assert heading == "2 jobs wait; compared with today:"
    assert columns.split() == ["today", "+4", "nodes"]
    assert ["Mean", "wait", "from", "now", "00:02:05", "00:01:20"] in [row.split() for row in rows]


def test_a_graph_with_other_rows_is_understood_by_path(dsn: str, tmp_path: Path) -> None:
    """The old rows are those of nodes that are down: a reader that took them as they are would find
    all others free."""
    graph = renamed("x0", "x1", "x2", "x3", "node3", "node2", "node1", "node0")
    for name in ("x0", "x1", "x2", "x3"):
        graph.set_status(graph.find_path(f"/cluster0/{name}")[0], up=False)
    (tmp_path / "cluster.jgf").write_bytes(write_graph(graph))
    starts = forecast(dsn, "--graph", tmp_path / "cluster.jgf")
    assert starts == {"today": {2: 100, 4: 150}}


def test_a_system_with_nodes_that_were_removed_is_run_ahead(server: EmbeddedServer) -> None:
    """Rows in the store then have gaps."""
    graph = renamed("old", "a", "b", "c", "d")
    graph.remove(graph.find_path("/cluster0/old"))
    asyncio.run(fill(server.dsn, FAIR, RUNNING, HEAD, PASSING, LONG, cluster=survey(graph)))
    assert forecast(server.dsn) == {"today": {2: 100, 4: 150}}


def test_nodes_that_are_down_are_not_counted_on(server: EmbeddedServer) -> None:
    graph = renamed("a", "b", "c", "d")
    graph.set_status(graph.find_path("/cluster0/d")[0], up=False)
    asyncio.run(fill(server.dsn, FAIR, job(1, 3, 100), job(2, 3, 50), cluster=survey(graph)))
    found = document(server.dsn, "--add-job", "4:10")["scenarios"]["+1 job"]
    assert [j["job"] for j in found["jobs"]] == [2]
    assert list(found["no_start"]) == ["3"]
    done = run_simulate(*AHEAD, "--dsn", server.dsn, "--add-job", "4:10")
    assert done.returncode == 0
    lines = [line for line in done.stdout.splitlines() if "no start is known for job" in line]
    assert lines == [f"+1 job: no start is known for job 3: {found['no_start']['3']}"]
    assert found["no_start"]["3"]


def test_one_more_job_goes_to_a_queue_that_there_is(server: EmbeddedServer) -> None:
    config = SchedulerConfig(queues=(QueueConfig("batch"), QueueConfig("idle")))
    asyncio.run(fill(server.dsn, config))
    assert forecast(server.dsn, "--add-job", "4:600") == {"today": {}, "+1 job": {1: 0}}


def test_a_system_that_is_not_stored_needs_a_cluster(without_system: str) -> None:
    done = run_simulate(*AHEAD, "--dsn", without_system)
    assert done.returncode == 1
    assert "the store does not know the cluster of its queue yet" in done.stderr
    assert "--graph" in done.stderr
    starts = forecast(without_system, "--nodes", 4, "--policy", "easy", "--policy", "fcfs")
    assert starts == {"easy": {2: 100, 4: 150}, "fcfs": {2: 100, 4: 150}}
    assert list(forecast(without_system, "--nodes", 4)) == ["easy"]


def test_the_command_of_the_page_runs(server: EmbeddedServer, dsn: str, tmp_path: Path) -> None:
    (command,) = re.findall(r"(?ms)^```sh\n(.*?)^```$", PAGE.read_text())
    path = f"{FLUXNETES.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "FLUXNETES_DATA": str(server.paths.top)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    columns = done.stdout.splitlines()[1].split()
    assert columns == ["today", "conservative", "+100", "nodes", "+1", "job"]


def test_a_queue_of_another_cluster_is_refused(dsn: str) -> None:
    done = run_simulate(*AHEAD, "--dsn", dsn, "--nodes", 1)
    assert done.returncode == 1
    assert (
        "jobs of the queue run on resources that this cluster does not have: 1, 3; " in done.stderr
    )
    assert "--graph" in done.stderr


def test_a_queue_of_an_unknown_cluster_is_refused(without_system: str) -> None:
    done = run_simulate(*AHEAD, "--dsn", without_system, "--nodes", 1)
    assert done.returncode == 1
    assert "give the graph of the queue's own cluster with --graph" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint", "status"),
    [
        (["--from-store", "--cores", 4], "--cores: is for the nodes of --nodes", 2),
        (["--from-store", "--policy", "lucky"], "unknown policy 'lucky'", 2),
        (["--from-store", "t.swf"], "two workloads", 2),
        (["--from-store", "--html", "x.html"], "--html: is for workloads; use --json", 2),
        (["--from-store", "--jobs", 5], "--jobs: is for workloads; leave it out", 2),
        (["--from-store", "--overestimate", 2], "--overestimate: is for workloads", 2),
        (["t.swf", "--add-nodes", 3], "--add-nodes: is for forecasts: add --from-store", 2),
        (["--from-store", "--add-job", "64"], "such as 64:3600", 2),
        (["--from-store", "--nodes", 4, "--dsn", "mysql://x"], "the DSN is not valid", 1),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    arguments: list[object], complaint: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *map(str, arguments)]) == status
    assert complaint in " ".join(capsys.readouterr().err.split())
