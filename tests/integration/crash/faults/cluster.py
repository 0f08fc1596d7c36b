"""Everything that runs: control plane, Postgres, recorder, two replicas of the controller."""

from __future__ import annotations

import contextlib
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
from tests.integration.controller.rights import admit_controller
from tests.integration.crash.faults.link import Link
from tests.integration.crash.faults.replicas import Replica, kubeconfig_for
from tests.integration.crash.manifests import NAMESPACE
from tests.integration.crash.recorder import RECORDING
from tests.integration.crash.site import ROOT
from tests.integration.crash.truth.history import Line
from tests.integration.crash.truth.writers import log_of, policy
from tests.integration.store.servers import kill_server

_AS_JSON = "--storage-media-type=application/json"
_LEASE = "/apis/coordination.k8s.io/v1/namespaces/fluxnetes-system/leases/fluxnetes"
_READY_WITHIN = 60.0
_RETRY_FOR = 90.0
_RETRY_EVERY = 0.05
_AWAY = (OSError, http.client.HTTPException)
_LATER = (403, 429, 500, 503, 504)
"""What a server says that has just come back, and does not know everything yet."""


@dataclass(slots=True, eq=False)
class FaultyCluster:
    """See the module. The folder must be one that Postgres' account can reach.

    Only the thread that entered it may start and kill things: programs end with the thread that
    started them.
    """

    folder: Path
    nodes: int = 12
    binaries: PlaneBinaries | None = None
    faults: list[Line] = field(default_factory=list)
    """What was done, with monotonic times."""
    replicas: list[Replica] = field(default_factory=list)
    _plane: ControlPlane = field(init=False)
    _server: EmbeddedServer = field(init=False)
    _recorder: ProgramRun = field(init=False)
    _api: PlaneApi = field(init=False)
    _exits: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as exits:
            self._start(exits)
            self._exits = exits.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    def _start(self, exits: contextlib.ExitStack) -> None:
        self._server = EmbeddedServer(self.folder / "postgres")
        self._server.start()
        exits.callback(self._server.stop)
        extra = {API_SERVER: (_AS_JSON, *policy(self.folder))}
        self._plane = ControlPlane(
            self.folder / "plane", self.nodes, fsync=False, extra=extra, binaries=self.binaries
        )
        exits.enter_context(self._plane)
        self._api = exits.enter_context(self._plane.api())
        self._make_namespace()
        self._recorder = self._run("recorder", RECORDING, self._recorder_command())
        exits.callback(self._recorder.stop)
        self._recorder.wait_until_ready(_READY_WITHIN)
        _, certificate = admit_controller(self._plane)
        port = int(self._plane.server.rpartition(":")[2])
        for identity in ("a", "b"):
            link = exits.enter_context(Link(port))
            path = self.folder / f"{identity}.kubeconfig"
            kubeconfig_for(link, path, self._plane.paths.keys / "ca.crt", certificate)
            replica = Replica(identity, link, path, self._server.paths.top, self._run)
            self.replicas.append(replica)
            exits.callback(replica.kill)
        self.replicas[0].start()
        self.replicas[0].wait_until_it_leads(_READY_WITHIN)
        self.replicas[1].start()

    # -- what others ask -----------------------------------------------------------------------

    @property
    def api(self) -> PlaneApi:
        """For the thread that entered the cluster."""
        return self._api

    def new_api(self) -> PlaneApi:
        """For another thread."""
        return self._plane.api()

    @property
    def dsn(self) -> str:
        return self._server.dsn

    @property
    def record(self) -> Path:
        """What the recorder writes."""
        return self.folder / "record.jsonl"

    @property
    def audit(self) -> Path:
        return log_of(self.folder)

    def note(self, text: str) -> None:
        self.faults.append(Line(time.monotonic(), f"=== {text}"))

    def leader(self) -> Replica:
        """The replica that holds the lease, or held it last."""
        found: list[Object] = []
        persist(lambda: found.append(self._api.get(_LEASE)))
        holder = found[0]["spec"].get("holderIdentity", "") if found else ""
        return next((each for each in self.replicas if each.identity == holder), self.replicas[0])

    def mind(self) -> None:
        for replica in self.replicas:
            replica.mind()

    def stop_controllers(self) -> None:
        for replica in self.replicas:
            replica.stop()

    # -- servers -------------------------------------------------------------------------------

    def kill_postgres(self) -> None:
        """The controllers start it too, when they notice; the first does it."""
        kill_server(self._server)
        self._server.start()

    def kill_api_server(self) -> None:
        self._plane.processes[API_SERVER].kill()

    def start_api_server(self) -> None:
        self._plane.start_component(API_SERVER)

    # -- starting ------------------------------------------------------------------------------

    def _recorder_command(self) -> tuple[str, ...]:
        socket = self._plane.paths.top / "etcd.sock:0"
        module = "tests.integration.crash.recorder"
        return (sys.executable, "-m", module, str(socket), str(self.record))

    def _run(self, name: str, ready: str, command: tuple[str, ...]) -> ProgramRun:
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


def persist(act: Callable[[], object], *refusals: str) -> bool:
    """Do it until it is done; False if it was refused for one of these reasons.

    What is done and not answered is done again, and may be refused then.
    """
    deadline = time.monotonic() + _RETRY_FOR
    while True:
        try:
            act()
            return True
        except RequestRefused as refused:
            if refused.reason in refusals:
                return False
            if refused.status not in _LATER:
                raise
        except _AWAY:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"the API server was away for {_RETRY_FOR:.0f} s")
        time.sleep(_RETRY_EVERY)
