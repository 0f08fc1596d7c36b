"""One measurement of `bench/kube`: one scheduler, one workload, on an unused control plane.

    stream     the scheduler runs and is idle; pods are made at full speed while it schedules. The
               clock starts with the first create.
    backlog    all pods are made first. Then the scheduler is started while the API server is paused
               (SIGSTOP), so it gets as far as it can without. The clock starts when the API server
               is resumed. The scheduler has run once before, so that what it installs for ever is
               there.

The clock ends when the last pod is bound. A pod waits from when it was made, or from when the API
server was resumed. The API server's audit log says when that was.

There are only etcd, the API server, nodes without a kubelet, and the scheduler; no limits on
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

from bench.kube_audit import Audit, Writes
from bench.kube_contestants import GATES, Contestant
from bench.kube_costs import NOTHING, Costs, costs
from bench.kube_pause import PausedServer, is_quiet, pod_watchers
from bench.kube_result import Pods, Result, Wrong, result
from bench.kube_work import NAMESPACE, Mark, Workload, a_pod
from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.components import API_SERVER, ETCD
from fluxnetes.plane.plane import ControlPlane

STREAM, BACKLOG = "stream", "backlog"
MODES = (STREAM, BACKLOG)
PATIENCE = 300.0
"""Seconds until pods that have no node are given up."""

_API_SERVER_ARGUMENTS = (
    f"--feature-gates={GATES}",
    "--runtime-config=scheduling.k8s.io/v1alpha2=true",
    "--enable-priority-and-fairness=false",
    "--max-requests-inflight=0",
    "--max-mutating-requests-inflight=0",
)
_LOOK_EVERY = 0.1
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
        folder.chmod(0o711)  # when run as root, Postgres runs as another user
        audit = Audit(folder)
        with (
            ControlPlane(
                folder / "plane",
                case.nodes,
                components=(ETCD, API_SERVER),
                fsync=False,
                extra={API_SERVER: (*_API_SERVER_ARGUMENTS, *audit.arguments)},
            ) as plane,
            closing(kind(plane, folder)) as contestant,
            plane.api() as api,
        ):
            return Run(case, contestant, plane, api, audit, folder / "pods").measure()


@dataclass(frozen=True, slots=True)
class Run:
    """What one measurement needs."""

    case: Case
    contestant: Contestant
    plane: ControlPlane
    api: PlaneApi
    audit: Audit
    pods: Path

    def measure(self) -> Result:
        self._prepare()
        self._start()
        if self.case.mode == STREAM:
            return self._stream()
        self.contestant.stop()
        return self._backlog()

    def _stream(self) -> Result:
        before = self._spent()
        with self._creating() as began:
            self._wait()
        return self._result(began, before)

    def _backlog(self) -> Result:
        with self._creating():
            pass
        with PausedServer(self.plane) as server:
            self.contestant.start(
                lambda: server.has_new_connections() and is_quiet(self.contestant.pid)
            )
            before = self._spent()
        self._wait()
        return self._result(server.resumed, before)

    def _prepare(self) -> None:
        """Write down the pods, and make what they refer to."""
        workload, count = self.case.workload, self.case.pods
        for path, thing in self.contestant.objects(workload.groups(count)):
            self.api.create(path, thing)
        with self.pods.open("w") as file:
            for name, group in workload.pods(count):
                mark = self.contestant.mark(group) if group else Mark()
                pod = a_pod(name, self.contestant.scheduler_name, mark)
                file.write(json.dumps(pod) + "\n")

    def _start(self) -> None:
        """Until it follows the pods and has nothing to do."""
        before = pod_watchers(self.api)
        self.contestant.start(
            lambda: is_quiet(self.contestant.pid) and pod_watchers(self.api) > before
        )

    @contextmanager
    def _creating(self) -> Iterator[float]:
        """While pods are made, and until all are; since when."""
        arguments = (str(self.plane.kubeconfig), str(self.pods))
        command = [sys.executable, "-m", "bench.kube_creator", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as creator:
            assert creator.stdout is not None
            if began := creator.stdout.readline():
                yield float(began)
        if creator.returncode:
            raise Wrong("not all pods could be made; the creator has said why")

    def _wait(self) -> None:
        """Until all pods have nodes, or it takes too long."""
        deadline = time.monotonic() + PATIENCE
        while len(self.audit.bound) < self.case.pods and time.monotonic() < deadline:
            if not self.contestant.is_running:
                raise Wrong(f"{self.contestant.name} ended:\n{self.contestant.last_words()}")
            time.sleep(_LOOK_EVERY)
            self.audit.read()

    def _result(self, began: float, before: tuple[Costs, Costs]) -> Result:
        wrote = self._written(began)
        scheduler, postgres = self._spent()
        spent = (scheduler.since(before[0]), postgres.since(before[1]))
        return result(self._seen(), began, wrote, spent)

    def _written(self, since: float) -> Writes:
        """By the scheduler, once it writes nothing more."""
        while True:
            before = self.audit.written(self.contestant.user, since)
            time.sleep(_NO_MORE_WRITES)
            self.audit.read()
            if (now := self.audit.written(self.contestant.user, since)) == before:
                return now

    def _spent(self) -> tuple[Costs, Costs]:
        """By the scheduler, and by its database."""
        database = self.contestant.postgres
        return costs(self.contestant.pid), costs(database) if database else NOTHING

    def _seen(self) -> Pods:
        """What has become of the pods in the end."""
        items = self.api.get(f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
        nodes = {each["metadata"]["name"]: each["spec"].get("nodeName") for each in items}
        created, bound = self.audit.created, self.audit.bound
        return {name: (nodes.get(name), at, bound.get(name)) for name, at in created.items()}
