"""A real cluster with all that is to be killed: control plane, Postgres, our controller.

A component that is killed is started again at once, as a kubelet or systemd would do it. A
controller that ends by itself is started again too; that it did is noted, for nothing here gives it
a reason to.
"""

from __future__ import annotations

import enum
import http.client
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import tests.integration.store.quick  # noqa: F401 - for its effect
from fluxnetes.plane.api import Object, PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.components import API_SERVER
from fluxnetes.plane.errors import RequestRefused
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.plane.processes import Program, ProgramRun
from fluxnetes.store.embedded.server import EmbeddedServer
from tests.integration.crash.manifests import NAMESPACE
from tests.integration.crash.recorder import RECORDING
from tests.integration.store.servers import kill_server

ROOT = Path(__file__).parents[3]
"""Where the package `tests` is found."""
LEADING = "leading"
_AS_JSON = "--storage-media-type=application/json"
_PAUSE = 0.05
_PATIENCE = 60.0
_AWAY = (OSError, http.client.HTTPException)
_LATER = (403, 429, 500, 503, 504)
"""What a server says that has just come back, and does not know everything yet."""


class Victim(enum.Enum):
    """Whom to kill."""

    CONTROLLER = "controller"
    POSTGRES = "postgres"
    API_SERVER = "api-server"


@dataclass(frozen=True, slots=True)
class Kill:
    """Which component was killed, and from when until when it was down (monotonic)."""

    victim: Victim
    at: float
    back: float


@dataclass(slots=True, eq=False)
class Site:
    """See the module. The folder must be one that Postgres' account can reach."""

    folder: Path
    nodes: int = 8
    binaries: PlaneBinaries | None = None
    kills: list[Kill] = field(default_factory=list)
    ended_alone: list[str] = field(default_factory=list)
    """Controllers that ended without being killed, with their last words."""
    _lives: int = 0
    _plane: ControlPlane = field(init=False)
    _server: EmbeddedServer = field(init=False)
    _recorder: ProgramRun = field(init=False)
    _controller: ProgramRun = field(init=False)
    _api: PlaneApi = field(init=False)

    def __enter__(self) -> Self:
        extra = {API_SERVER: (_AS_JSON,)}
        self._server = EmbeddedServer(self.folder / "postgres")
        self._server.start()
        self._plane = ControlPlane(
            self.folder / "plane", self.nodes, fsync=False, extra=extra, binaries=self.binaries
        )
        self._plane.start()
        self._api = self._plane.api()
        self._make_namespace()
        self._recorder = self._run("recorder", RECORDING, *self._recorder_command())
        self._start_controller()
        self._controller.wait_until_ready(_PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._api.close()
        self._controller.stop()
        self._recorder.stop()
        self._plane.stop()
        self._server.stop()

    @property
    def api(self) -> PlaneApi:
        return self._api

    @property
    def dsn(self) -> str:
        return self._server.dsn

    @property
    def record(self) -> Path:
        """What the recorder writes."""
        return self.folder / "record.jsonl"

    def stop_controller(self) -> None:
        """As an administrator would: it may finish what it is at."""
        self._controller.stop()

    # -- killing -------------------------------------------------------------------------------

    def kill(self, victim: Victim) -> None:
        """Kill -9, and start again at once."""
        at = time.monotonic()
        _KILLS[victim](self)
        self.kills.append(Kill(victim, at, time.monotonic()))

    def _kill_controller(self) -> None:
        self._controller.kill()
        self._start_controller()

    def _kill_postgres(self) -> None:
        """The controller starts it too, when it notices; the first of both does it."""
        kill_server(self._server)
        self._server.start()

    def _kill_api_server(self) -> None:
        self._plane.processes[API_SERVER].kill()
        self._plane.start_component(API_SERVER)

    def mind_controller(self) -> None:
        """Start it again if it ended by itself."""
        status = self._controller.status
        if status is not None:
            words = self._controller.log.read_text(errors="replace").splitlines()[-3:]
            self.ended_alone.append(f"status {status}: {' / '.join(words)}")
            self._start_controller()

    # -- starting ------------------------------------------------------------------------------

    def _start_controller(self) -> None:
        self._lives += 1
        store = self._server.paths.top
        command = (sys.executable, "-m", "fluxnetes", "controller", "--identity", "crash")
        where = ("--kubeconfig", str(self._plane.kubeconfig), "--store-folder", str(store))
        self._controller = self._run(f"controller-{self._lives}", LEADING, *command, *where)

    def _recorder_command(self) -> tuple[str, ...]:
        socket = self._plane.paths.top / "etcd.sock:0"
        module = "tests.integration.crash.recorder"
        return (sys.executable, "-m", module, str(socket), str(self.record))

    def _run(self, name: str, ready: str, *command: str) -> ProgramRun:
        """Start a program of ours; it is ready when it has said so. It dies with us."""
        log = self.folder / f"{name}.log"
        program = Program(name, command, lambda: ready in log.read_text(errors="replace"))
        with (self.folder / "programs.lock").open("wb") as lock:
            return ProgramRun(program, log, ROOT, lock.fileno())

    def _make_namespace(self) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self._api.create("/api/v1/namespaces", namespace)
        for accounts in self._api.follow(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"):
            if "default" in accounts:
                return

    def persist(self, act: Callable[[], Object], is_done: str) -> None:
        """Do it until it is done. What failed after it worked is refused for that reason."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                act()
                return
            except RequestRefused as refused:
                if refused.reason == is_done:
                    return
                if refused.status not in _LATER:
                    raise
            except _AWAY:
                pass
            if time.monotonic() > deadline:
                raise TimeoutError(f"the API server was away for {_PATIENCE:.0f} s")
            time.sleep(_PAUSE)


_KILLS: dict[Victim, Callable[[Site], None]] = {
    Victim.CONTROLLER: Site._kill_controller,
    Victim.POSTGRES: Site._kill_postgres,
    Victim.API_SERVER: Site._kill_api_server,
}
