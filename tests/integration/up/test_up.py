"""`fluxnetes up`: it starts, keeps its data, and leaves nothing behind, however it ends."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from fluxnetes.cli.up import main
from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.certificates import PlaneCertificate
from fluxnetes.plane.nodes import NODES
from fluxnetes.plane.paths import PlanePaths
from fluxnetes.plane.versions import PINNED
from tests.integration.plane.objects import PODS, a_pod, is_running, wait_for
from tests.integration.up.command import Up, run_up

pytestmark = pytest.mark.usefixtures("binaries")


def test_kill_9_leaves_no_orphans_and_the_next_start_finds_its_data(folder: Path) -> None:
    with Up("--folder", str(folder), "--nodes", "3") as first:
        first.read_until("Ctrl-C")
        assert first.kubeconfig == folder / "plane" / "kubeconfig"
        with _connect(folder) as api:
            api.create(PODS, a_pod("ours", schedulerName="fluxnetes"))
            before = wait_for(api, PODS, "ours", is_running)
        orphans = first.children()
        assert len(orphans) == 5 + len(("webhook", "controller", "postgres"))
        first.kill()
    with Up("--folder", str(folder), "--nodes", "2") as second:
        second.read_until("Ctrl-C")
        # Postgres outlives us and is taken up again; it recovers from worse, but need not.
        assert [each.is_alive for each in orphans] == [each.is_postgres for each in orphans]
        with _connect(folder) as api:
            after = api.get(f"{PODS}/ours")
            api.create(PODS, a_pod("later", schedulerName="fluxnetes"))
            wait_for(api, PODS, "later", is_running)
            nodes = {node["metadata"]["name"] for node in api.get(NODES)["items"]}
        assert nodes == {"node-0", "node-1"}
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after["status"]["startTime"] == before["status"]["startTime"]
        children = second.children()
        assert second.interrupt() == 0
        assert not any(each.is_alive for each in (*orphans, *children))


def test_what_ends_is_started_again_and_a_part_of_the_plane_ends_all(folder: Path) -> None:
    with Up("--folder", str(folder), "--nodes", "1") as up:
        up.read_until("Ctrl-C")
        in_use = run_up("--folder", str(folder), status=1)
        assert "stop that one, or use another folder" in in_use
        log = folder / "logs" / "controller.log"
        for program in ("controller", "webhook"):
            before = up.child(program)
            os.kill(before.pid, signal.SIGKILL)
            up.read_until(f"{program} ended (status -9); it is started again in 1 s; see ")
            up.read_until(f"{program} is ready again")
            assert up.child(program).pid != before.pid
        assert log.read_text().count("--- controller starts at ") == 2
        with _connect(folder) as api:
            api.create(PODS, a_pod("ours", schedulerName="fluxnetes"))
            wait_for(api, PODS, "ours", is_running)
        children = up.children()
        (part,) = [each for each in children if each.line[0].endswith("kube-scheduler")]
        os.kill(part.pid, signal.SIGKILL)
        assert up.wait() == 1
        assert "kube-scheduler ended (status -9), so all programs were stopped; see " in up.said
        assert not any(each.is_alive for each in children)


def test_a_bad_configuration_is_refused_before_anything_starts(folder: Path) -> None:
    folder.mkdir()
    config = folder / "queues.yaml"
    config.write_text("queues: [{name: a, depth: 0}]")
    data = folder / "data"
    said = run_up("--folder", str(data), "--config", str(config), status=2)
    assert "queues[0].depth: expected 1 or more, found 0" in " ".join(said.split())
    assert not data.exists()


def test_a_folder_has_the_queue_of_one_cluster(folder: Path) -> None:
    folder.mkdir()
    (folder / "cluster").write_text("https://10.1.2.3:6443\n")
    message = run_up("--folder", str(folder), status=1)
    assert f"{folder} has the queue of https://10.1.2.3:6443" in message
    assert "use another --folder" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--context", "lab"], "--context needs an existing cluster"),
        (["--webhook-url", "https://a:1"], "--webhook-url needs an existing cluster"),
        (["--once"], "add --demo"),
        (["--demo", "--nodes", "1"], "at least 2 nodes, not 1"),
        (["--kubeconfig", __file__, "--demo"], "--demo is for a local control plane"),
        (["--kubeconfig", __file__, "--nodes", "3"], "--nodes is for a local control plane"),
        (["--kubeconfig", __file__, "--kubernetes", "1.37"], "--kubernetes is for a local control"),
        (["--kubernetes", "1.30"], "expected one of 1.36, 1.37, found 1.30"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(options) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_folder_keeps_the_version_of_kubernetes_that_it_was_given(
    folder: Path, newest_binaries: PlaneBinaries
) -> None:
    for options in (["--kubernetes", PINNED[-1]], []):
        with Up("--folder", str(folder), "--nodes", "1", *options) as up:
            up.read_until("Ctrl-C")
            with _connect(folder) as api:
                assert api.get("/version")["gitVersion"].startswith(f"v{PINNED[-1]}.")
                name = f"pod-{len(options)}"
                api.create(PODS, a_pod(name, schedulerName="fluxnetes"))
                wait_for(api, PODS, name, is_running)
            assert up.interrupt() == 0
    said = run_up("--folder", str(folder), "--kubernetes", PINNED[0], status=1)
    assert f"has the data of Kubernetes {PINNED[-1]}, which {PINNED[0]} cannot read" in said


def test_a_folder_that_cannot_be_is_refused(folder: Path) -> None:
    folder.write_text(json.dumps("a file"))
    assert "use another --folder" in run_up("--folder", str(folder / "below"), status=1)


def _connect(folder: Path) -> PlaneApi:
    paths = PlanePaths(folder / "plane")
    port = json.loads(paths.ports.read_text())["kube-apiserver"]
    admin = PlaneCertificate(paths.keys / "admin.crt", paths.keys / "admin.key")
    return PlaneApi(port, paths.keys / "ca.crt", admin)
