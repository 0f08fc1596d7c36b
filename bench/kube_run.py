"""One measurement of `bench/kube`: one scheduler, one workload, on a plane that nobody used before.

    stream     the scheduler runs and is idle; pods are made at full speed while it schedules. The
               clock starts with the first create.
    backlog    all pods are made first. Then the scheduler is started in front of a closed door: the
               API server is stopped (SIGSTOP), so it gets as far as it can without. The clock
               starts when the door opens. It has run once before, so that what it installs for
               ever is there.

The clock ends when a watcher on the side sees the last pod with a node. A pod waits from when it
was made, or from when the door opened.

There are only etcd, the API server, nodes that nobody plays, and the scheduler; no limits on
requests, and no fsync in etcd.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.kube_contestants import GATES, Contestant
from bench.kube_costs import NOTHING, Costs, Writes, costs, pod_watchers, writes
from bench.kube_door import Door, is_quiet
from bench.kube_result import Pods, Result, Wrong, result
from bench.kube_watcher import WATCHING
from bench.kube_work import Mark, Workload, a_pod
from fluxnetes.plane.api import Api
from fluxnetes.plane.parts import API_SERVER, ETCD
from fluxnetes.plane.plane import ControlPlane

STREAM, BACKLOG = "stream", "backlog"
MODES = (STREAM, BACKLOG)
PATIENCE = 300
"""Seconds until pods that have no node are given up."""

_API_SERVER_ARGUMENTS = (
    f"--feature-gates={GATES}",
    "--runtime-config=scheduling.k8s.io/v1alpha2=true",
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
)
_NO_MORE_WRITES = 2.0
"""Seconds after which we believe that nothing more is written: events and records come last."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked, and in which way."""

    workload: Workload
    mode: str
    nodes: int = 1000
    pods: int = 3000


def measure(case: Case, kind: type[Contestant]) -> Result:
    """Everything, from an empty folder to the result."""
    with tempfile.TemporaryDirectory(prefix="fluxnetes-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # where we are root, Postgres is somebody else
        with (
            ControlPlane(
                folder / "plane",
                case.nodes,
                parts=(ETCD, API_SERVER),
                fsync=False,
                extra={API_SERVER: _API_SERVER_ARGUMENTS},
            ) as plane,
            closing(kind(plane, folder)) as contestant,
            plane.api() as api,
        ):
            return Run(case, contestant, plane, api, folder).measure()


class Run:
    """What one measurement needs."""

    def __init__(
        self, case: Case, contestant: Contestant, plane: ControlPlane, api: Api, folder: Path
    ) -> None:
        self._case, self._contestant = case, contestant
        self._plane, self._api, self._folder = plane, api, folder

    def measure(self) -> Result:
        self._prepare()
        self._start()
        if self._case.mode == STREAM:
            return self._stream()
        self._contestant.stop()
        return self._backlog()

    def _stream(self) -> Result:
        wrote, spent = writes(self._api), self._spent()
        with self._watcher() as watcher, self._creator() as creator:
            pods = self._wait(watcher)
            began = _began(creator)
        return self._result(pods, began, wrote, spent)

    def _backlog(self) -> Result:
        wrote = writes(self._api)
        with self._watcher() as watcher:
            with self._creator() as creator:
                _began(creator)
            with Door(self._plane) as door:
                self._contestant.start(
                    lambda: door.somebody_waits() and is_quiet(self._contestant.pid)
                )
                spent = self._spent()
            pods = self._wait(watcher)
        return self._result(pods, door.opened, wrote, spent)

    def _result(
        self, pods: Pods, began: float, wrote: Writes, spent: tuple[Costs, Costs]
    ) -> Result:
        written = self._all_writes() - wrote
        scheduler, postgres = self._spent()
        spent = (scheduler.since(spent[0]), postgres.since(spent[1]))
        return result(pods, began, written, spent)

    def _prepare(self) -> None:
        """Write down the pods, and make what they refer to."""
        workload, count = self._case.workload, self._case.pods
        for path, thing in self._contestant.objects(workload.groups(count)):
            self._api.create(path, thing)
        with (self._folder / "pods").open("w") as file:
            for name, group in workload.pods(count):
                mark = self._contestant.mark(group) if group else Mark()
                pod = a_pod(name, self._contestant.scheduler_name, mark)
                file.write(json.dumps(pod) + "\n")

    def _start(self) -> None:
        """Until it follows the pods and has nothing to do."""
        before = pod_watchers(self._api)
        self._contestant.start(
            lambda: is_quiet(self._contestant.pid) and pod_watchers(self._api) > before
        )

    @contextmanager
    def _watcher(self) -> Iterator[subprocess.Popen[str]]:
        who, until = self._plane.kubeconfig, (self._case.pods, PATIENCE)
        with _python("bench.kube_watcher", who, *until, self._folder / "seen") as watcher:
            assert watcher.stdout is not None
            if watcher.stdout.readline().strip() != WATCHING:
                raise Wrong("the watcher did not start")
            yield watcher

    def _creator(self) -> subprocess.Popen[str]:
        return _python("bench.kube_creator", self._plane.kubeconfig, self._folder / "pods")

    def _wait(self, watcher: subprocess.Popen[str]) -> Pods:
        while watcher.poll() is None:
            if not self._contestant.is_running:
                watcher.kill()
                raise Wrong(f"{self._contestant.name} ended:\n{self._contestant.last_words()}")
            time.sleep(0.05)
        if watcher.returncode:
            raise Wrong("the watcher failed")
        pods: Pods = json.loads((self._folder / "seen").read_text())
        return pods

    def _spent(self) -> tuple[Costs, Costs]:
        """By the scheduler, and by its database."""
        database = self._contestant.postgres
        return costs(self._contestant.pid), costs(database) if database else NOTHING

    def _all_writes(self) -> Writes:
        """Once nothing more is written."""
        while True:
            before = writes(self._api)
            time.sleep(_NO_MORE_WRITES)
            if (now := writes(self._api)) == before:
                return now


def _python(module: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _began(creator: subprocess.Popen[str]) -> float:
    """When it began, once it is done."""
    said, _ = creator.communicate()
    if creator.returncode:
        raise Wrong("the creator failed")
    return float(json.loads(said)["began"])
