"""ControlPlane: starts and stops the components of one folder, in order.

    with ControlPlane(folder, nodes=8) as plane:
        ...                        # plane.kubeconfig for clients, plane.api() for single requests

All data are in the folder, and stay there: a second start takes seconds and finds everything. Two
planes need two folders. `start` and `stop` block; call `start` from a thread that lives as long as
the plane, since the kernel ends the programs with it.

A component may be killed and started again while the others run, to test recovery:

    plane.processes["kube-apiserver"].kill()
    plane.start_component("kube-apiserver")

Between the two, `replace_programs` makes it another version, to test an upgrade.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries, find_binaries
from fluxnetes.plane.components import (
    ALL,
    CONTROLLERS,
    WITH_PORT,
    ComponentSettings,
    program,
    write_settings,
)
from fluxnetes.plane.errors import PlaneFailed
from fluxnetes.plane.nodes import NodeShape, make_nodes, wait_until_ready
from fluxnetes.plane.paths import choose_ports, make_paths
from fluxnetes.plane.processes import FolderLock, ProgramRun

Say = Callable[[str], None]
"""Called with a line for each component that is ready."""

_DEFAULT_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts"


def _discard(_: str) -> None:
    pass


class ControlPlane:
    """The control plane of one folder."""

    def __init__(
        self,
        folder: Path,
        nodes: int = 8,
        shape: NodeShape | None = None,
        *,
        components: Sequence[str] = ALL,
        fsync: bool = True,
        extra: Mapping[str, tuple[str, ...]] | None = None,
        binaries: PlaneBinaries | None = None,
        say: Say = _discard,
    ) -> None:
        unknown = set(components) - set(ALL)
        if unknown:
            raise ValueError(
                f"no such component: {', '.join(sorted(unknown))}; expected some of {ALL}"
            )
        self.paths = make_paths(folder)
        self.processes: dict[str, ProgramRun] = {}
        self._components = tuple(name for name in ALL if name in components)
        self._nodes, self._shape = nodes, shape or NodeShape()
        self._fsync, self._extra, self._say = fsync, dict(extra or {}), say
        self._binaries = binaries
        self._lock: FolderLock | None = None
        self._setting: ComponentSettings | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of an administrator."""
        return self.paths.kubeconfig

    @property
    def server(self) -> str:
        """The address of the API server."""
        return self._running().server

    def api(self) -> PlaneApi:
        """An administrator's connection, for one thread."""
        return self._running().api()

    def start(self) -> None:
        """Start all components and wait until the nodes are usable. All or nothing."""
        binaries = self._binaries or find_binaries()
        lock = FolderLock(self.paths.owner_lock, self.paths.programs_lock)
        lock.take()
        self._lock = lock
        atexit.register(self.stop)
        try:
            self._start(binaries)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop all components, the last first. May be called repeatedly."""
        for name in reversed(ALL):
            if name in self.processes:
                self.processes.pop(name).stop()
        if self._lock is not None:
            self._lock.release()
        self._lock = self._setting = None
        atexit.unregister(self.stop)

    def start_component(self, name: str) -> None:
        """Start one component, and wait until it is ready."""
        setting, paths = self._running(), self.paths
        assert self._lock is not None  # noqa: S101 - held as long as there is a setting
        process = ProgramRun(
            program(setting, name), paths.log(name), paths.top, self._lock.programs
        )
        self.processes[name] = process
        process.wait_until_ready()
        self._say(f"{name} is ready")

    def replace_programs(
        self, binaries: PlaneBinaries, extra: Mapping[str, tuple[str, ...]]
    ) -> None:
        """What starts from now on are these programs, with these additional arguments."""
        self._setting = replace(self._running(), binaries=binaries, extra=extra)

    def ended(self) -> dict[str, int]:
        """Components that ended by themselves or were killed, with their exit status."""
        states = {name: process.status for name, process in self.processes.items()}
        return {name: status for name, status in states.items() if status is not None}

    def _start(self, binaries: PlaneBinaries) -> None:
        ports = choose_ports(self.paths, WITH_PORT)
        self._setting = ComponentSettings(
            self.paths, binaries, ports, self._components, self._fsync, self._extra
        )
        write_settings(self._setting)
        for name in self._components:
            self.start_component(name)
        with self.api() as api:
            make_nodes(api, self._nodes, self._shape)
            wait_until_ready(api, self._nodes)
            if CONTROLLERS in self._components:
                _wait_for_accounts(api)
        self._say(f"{self._nodes} nodes are ready")

    def _running(self) -> ComponentSettings:
        if self._setting is None:
            raise PlaneFailed(
                f"the control plane of {self.paths.top} is not running; start it first"
            )
        return self._setting


def _wait_for_accounts(api: PlaneApi) -> None:
    """Wait for the default service account, without which no pod can be created."""
    for accounts in api.follow(_DEFAULT_ACCOUNT):
        if "default" in accounts:
            return
