"""The schedulers that `bench/kube` compares: how each is started, and what it calls a gang.

All run beside the same API server, each as a user of its own with all rights, with no limit
on its requests. To add one: say how it is run, and how its pods are marked.
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.kube_work import NAMESPACE, Group, Mark, Object
from fluxnetes.plane.binaries import find_binaries
from fluxnetes.plane.certificates import PlaneAuthority
from fluxnetes.plane.kubeconfig import write_kubeconfig
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.plane.processes import Program, ProgramRun
from fluxnetes.store.embedded.server import EmbeddedServer

OURS, KUBE, NATIVE = "fluxnetes", "kube-scheduler", "native-gangs"
ON_POD_GROUPS = "podgroups"
COSCHEDULING = "coscheduling"
GATES = "GenericWorkload=true,GangScheduling=true"

_LAST_LINES = 12
_NO_LIMIT = {"qps": 100_000, "burst": 100_000}


class Contestant(ABC):
    """A scheduler on one plane."""

    name: str
    scheduler_name: str
    user: str
    """As whom it writes."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._folder, self._log = folder, folder / f"{self.name}.log"
        self._command = self._prepare(plane, folder)
        self._process: ProgramRun | None = None

    def mark(self, group: Group) -> Mark:
        """How its pods say that they are of a group."""
        return Mark()

    def objects(self, groups: Sequence[Group]) -> list[tuple[str, Object]]:
        """What must be there before the pods are: where, and what."""
        return []

    def start(self, is_ready: Callable[[], bool]) -> None:
        """Start it, and wait."""
        program = Program(self.name, self._command, is_ready)
        # It dies with us, and so needs no lock by which a next start would find it.
        with self._log.with_suffix(".lock").open("wb") as lock:
            self._process = ProgramRun(program, self._log, self._folder, lock.fileno())
        self._process.wait_until_ready()

    def stop(self) -> None:
        """Stop it. May be said often."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def close(self) -> None:
        """Stop it for good."""
        self.stop()

    def last_words(self) -> str:
        """What it said last."""
        lines = self._log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return "\n".join(line[:400] for line in lines)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.status is None

    @property
    def pid(self) -> int:
        """While it runs."""
        assert self._process is not None
        return self._process.pid

    @property
    def postgres(self) -> int | None:
        """The process of its database, if it has one."""
        return None

    @abstractmethod
    def _prepare(self, plane: ControlPlane, folder: Path) -> tuple[str, ...]:
        """Make what it needs; the command that runs it."""


class KubeScheduler(Contestant):
    """Kubernetes' own scheduler, to which the pods of a gang are single pods."""

    name = KUBE
    scheduler_name = "default-scheduler"
    user = "system:kube-scheduler"

    def _prepare(self, plane: ControlPlane, folder: Path) -> tuple[str, ...]:
        settings = folder / "scheduler.json"
        settings.write_text(json.dumps(self._settings(admit(plane, self.user))))
        return (self._program(), f"--config={settings}", "--secure-port=0")

    def _program(self) -> str:
        return find_binaries()["kube-scheduler"]

    def _settings(self, kubeconfig: Path) -> Object:
        return {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(kubeconfig), **_NO_LIMIT},
        }


class NativeGangs(KubeScheduler):
    """The same program with its own gang scheduling switched on, which is alpha."""

    name = NATIVE

    def mark(self, group: Group) -> Mark:
        return _native_mark(group)

    def objects(self, groups: Sequence[Group]) -> list[tuple[str, Object]]:
        return _native_objects(groups)

    def _prepare(self, plane: ControlPlane, folder: Path) -> tuple[str, ...]:
        return (*super()._prepare(plane, folder), f"--feature-gates={GATES}")


class Fluxnetes(Contestant):
    """Ours: all or nothing, with the queue in a Postgres that syncs to disk."""

    name = OURS
    scheduler_name = "fluxnetes"
    user = "fluxnetes"

    def mark(self, group: Group) -> Mark:
        size = str(group.size)
        return Mark({"fluxnetes.io/group": group.name, "fluxnetes.io/group-size": size})

    def close(self) -> None:
        self.stop()
        self._postgres.stop()

    @property
    def postgres(self) -> int:
        return self._postgres.pid

    def _prepare(self, plane: ControlPlane, folder: Path) -> tuple[str, ...]:
        kubeconfig = admit(plane, self.user)
        self._postgres = EmbeddedServer(folder / "postgres")
        self._postgres.start()
        run = (sys.executable, "-m", "fluxnetes", "controller")
        return (*run, f"--kubeconfig={kubeconfig}", f"--dsn={self._postgres.dsn}")


class FluxnetesOnPodGroups(Fluxnetes):
    """The same, with Kubernetes' own PodGroups in place of labels, whose status it writes."""

    name = ON_POD_GROUPS

    def mark(self, group: Group) -> Mark:
        return _native_mark(group)

    def objects(self, groups: Sequence[Group]) -> list[tuple[str, Object]]:
        return _native_objects(groups)


CONTESTANTS: tuple[type[Contestant], ...] = (
    Fluxnetes,
    FluxnetesOnPodGroups,
    KubeScheduler,
    NativeGangs,
)


def _native_mark(group: Group) -> Mark:
    return Mark(spec={"schedulingGroup": {"podGroupName": group.name}})


def _native_objects(groups: Sequence[Group]) -> list[tuple[str, Object]]:
    path = f"/apis/scheduling.k8s.io/v1alpha2/namespaces/{NAMESPACE}/podgroups"
    return [(path, _pod_group(group)) for group in groups]


def _pod_group(group: Group) -> Object:
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": group.name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": group.size}}},
    }


def admit(plane: ControlPlane, user: str) -> Path:
    """Create a user with all rights, granted by RBAC as for any other user; its kubeconfig."""
    authority, name = PlaneAuthority(plane.paths.keys), f"bench-{user.replace(':', '-')}"
    kubeconfig = plane.paths.settings / f"{name}.kubeconfig"
    client = authority.issue_client(name, user)
    write_kubeconfig(kubeconfig, plane.server, authority.files.certificate, client)
    group = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    }
    with plane.api() as api:
        api.create(f"/apis/{group}/v1/clusterrolebindings", binding)
    return kubeconfig
