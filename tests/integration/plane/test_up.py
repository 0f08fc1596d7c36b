"""`fluxnetes up`: it starts, keeps its data, and leaves nothing behind, however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from fluxnetes.plane.api import Api
from fluxnetes.plane.certificates import Certificate
from fluxnetes.plane.nodes import NODES
from fluxnetes.plane.places import Places
from tests.integration.plane.objects import PODS, a_pod, is_running, wait_for

pytestmark = pytest.mark.usefixtures("binaries")


def test_kill_9_leaves_no_orphans_and_the_next_start_finds_its_data(folder: Path) -> None:
    with _up(folder, "--nodes", "3") as first:
        told = _hear(first)
        assert f"export KUBECONFIG={folder / 'kubeconfig'}" in told
        assert "Fluxnetes itself is not part of this yet" in told
        with _connect(folder) as api:
            api.create(PODS, a_pod("lasting"))
            before = wait_for(api, PODS, "lasting", is_running)
        orphans = _children(first.pid)
        assert len(orphans) == 5
        first.kill()
        first.wait()
    with _up(folder, "--nodes", "2") as second:
        _hear(second)
        assert not any(map(_is_alive, orphans))
        with _connect(folder) as api:
            after = api.get(f"{PODS}/lasting")
            assert {node["metadata"]["name"] for node in api.get(NODES)["items"]} == {
                "node-0",
                "node-1",
            }
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after["status"]["startTime"] == before["status"]["startTime"]
        children = _children(second.pid)
        second.send_signal(signal.SIGINT)
        assert second.wait() == 0
        assert not any(map(_is_alive, children))


@contextmanager
def _up(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "fluxnetes", "up", "--folder", str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def _hear(process: subprocess.Popen[str]) -> str:
    """All that it says until it says how to stop it."""
    told = ""
    assert process.stdout is not None
    for line in process.stdout:
        told += line
        if "Ctrl-C" in line:
            return told
    raise AssertionError(f"it ended, and said only: {told!r}")


def _connect(folder: Path) -> Api:
    server = yaml.safe_load((folder / "kubeconfig").read_text())["clusters"][0]["cluster"]["server"]
    keys = Places(folder).keys
    admin = Certificate(keys / "admin.crt", keys / "admin.key")
    return Api(int(server.rpartition(":")[2]), keys / "ca.crt", admin)


def _children(pid: int) -> list[tuple[int, str]]:
    """Processes that it started, and when: a number alone may come again."""
    numbers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [(int(number), _fields(int(number))[19]) for number in numbers]


def _is_alive(process: tuple[int, str]) -> bool:
    pid, start = process
    try:
        fields = _fields(pid)
    except FileNotFoundError:
        return False
    return fields[19] == start and fields[0] != "Z"


def _fields(pid: int) -> list[str]:
    """Those of /proc/PID/stat from the state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
