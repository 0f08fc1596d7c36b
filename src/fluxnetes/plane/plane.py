"""A control plane: started, used, stopped.

    with ControlPlane(folder, nodes=8) as plane:
        ...                        # plane.kubeconfig is for clients, plane.api() for a quick look

All data are in the folder, and stay there: a second start takes seconds and finds everything. Two
planes need two folders. `start` and `stop` block; call `start` from a thread that lives as long as
the plane, since the programs die with it.

A part may be killed and started again while the others run, to see who survives that:

    plane.processes["kube-apiserver"].kill()
    plane.start_part("kube-apiserver")
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
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
from fluxnetes.plane.paths import choose_ports, make_places
from fluxnetes.plane.processes import FolderLock, ProgramRun

Say = Callable[[str], None]
"""Told what is ready, line by line."""

_DEFAULT_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts"


def _be_quiet(_: str) -> None:
    pass


class ControlPlane:
    """The control plane of one folder."""

    def __init__(
        self,
        folder: Path,
        nodes: int = 8,
        shape: NodeShape | None = None,
        *,
        parts: Sequence[str] = ALL,
        fsync: bool = True,
        extra: Mapping[str, tuple[str, ...]] | None = None,
        binaries: PlaneBinaries | None = None,
        say: Say = _be_quiet,
    ) -> None:
        unknown = set(parts) - set(ALL)
        if unknown:
            raise ValueError(f"there is no part {', '.join(sorted(unknown))}; there is: {ALL}")
        self.places = make_places(folder)
        self.processes: dict[str, ProgramRun] = {}
        self._parts = tuple(part for part in ALL if part in parts)
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
        """An admin's."""
        return self.places.kubeconfig

    @property
    def server(self) -> str:
        """The address of the API server."""
        return self._running().server

    def api(self) -> PlaneApi:
        """An admin's connection, for one thread."""
        return self._running().api()

    def start(self) -> None:
        """Start all parts and wait until nodes can be used. All or nothing."""
        binaries = self._binaries or find_binaries()
        lock = FolderLock(self.places.owner_lock, self.places.programs_lock)
        lock.take()
        self._lock = lock
        atexit.register(self.stop)
        try:
            self._start(binaries)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop all parts, the last first. May be said often."""
        for name in reversed(ALL):
            if name in self.processes:
                self.processes.pop(name).stop()
        if self._lock is not None:
            self._lock.leave()
        self._lock = self._setting = None
        atexit.unregister(self.stop)

    def start_part(self, name: str) -> None:
        """Start one part, and wait until it answers."""
        setting, places = self._running(), self.places
        assert self._lock is not None  # noqa: S101 - as long as there is a setting
        process = ProgramRun(
            program(setting, name), places.log(name), places.top, self._lock.programs
        )
        self.processes[name] = process
        process.wait_until_ready()
        self._say(f"{name} is ready")

    def ended(self) -> dict[str, int]:
        """Parts that ended by themselves or were killed, with their status."""
        states = {name: process.status for name, process in self.processes.items()}
        return {name: status for name, status in states.items() if status is not None}

    def _start(self, binaries: PlaneBinaries) -> None:
        ports = choose_ports(self.places, WITH_PORT)
        self._setting = ComponentSettings(
            self.places, binaries, ports, self._parts, self._fsync, self._extra
        )
        write_settings(self._setting)
        for name in self._parts:
            self.start_part(name)
        with self.api() as api:
            make_nodes(api, self._nodes, self._shape)
            wait_until_ready(api, self._nodes)
            if CONTROLLERS in self._parts:
                _wait_for_accounts(api)
        self._say(f"{self._nodes} nodes are ready")

    def _running(self) -> ComponentSettings:
        if self._setting is None:
            raise PlaneFailed(f"the control plane of {self.places.top} was not started")
        return self._setting


def _wait_for_accounts(api: PlaneApi) -> None:
    """No pod can be made in a namespace before its service account is there."""
    for accounts in api.follow(_DEFAULT_ACCOUNT):
        if "default" in accounts:
            return
