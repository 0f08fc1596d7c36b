"""Where the tests play: a whole control plane, our controller and our webhook as processes.

Tests run one after the other and leave the nodes as they found them (`Space.clean`, `Stage.tidy`),
so all share one stage. A test that would do harm to others makes one of its own.

The controller's timeouts are shorter than users would like them, so that tests need not wait.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import yaml

from fluxnetes.plane.api import Object
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.components import API_SERVER, CONTROLLERS
from fluxnetes.plane.nodes import NODES, NodeShape, a_node, is_usable
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.plane.versions import DEFAULT, native_group_gates
from tests.integration.bare import server_arguments
from tests.integration.controller.pod_groups import install_definitions
from tests.integration.controller.proxy import Proxy
from tests.integration.controller.rights import admit_controller
from tests.integration.controller.space import Space
from tests.integration.folders import reachable_folder
from tests.integration.webhook.command import Command

QUEUES = {
    "queues": [
        {"name": "default"},
        {"name": "short", "max_walltime": 600, "default_walltime": 300},
    ]
}
TIMEOUTS: dict[str, float] = {
    "replacement-pod": 15,  # longer than the ten seconds that a Job waits before it retries a pod
    "stalled-group": 8,
    "retry-delay": 1,
    "orphan-pod": 1,
    "forced-delete": 5,
    "incomplete": 3,
    "node-conflict": 1,
}

KUBELET = "fluxnetes.io/kubelet"
"""An annotation: a node that says `stopped` has a kubelet that does nothing."""


class Controller:
    """The command `fluxnetes controller`, started and stopped."""

    def __init__(
        self,
        kubeconfig: Path,
        folder: Path,
        identity: str = "stage",
        timeouts: Mapping[str, float] = TIMEOUTS,
        config: Mapping[str, object] = QUEUES,
    ) -> None:
        queues = folder / f"queues-{identity}.yaml"
        queues.write_text(yaml.safe_dump(dict(config)))
        self.log = folder / "controller.log"
        self._store = folder / "store"
        named = {
            "--kubeconfig": kubeconfig,
            "--store-folder": self._store,
            "--config": queues,
            "--identity": identity,
        }
        self._line = [sys.executable, "-m", "fluxnetes", "controller"]
        self._line += [str(part) for pair in named.items() for part in pair]
        for name, seconds in (TIMEOUTS | dict(timeouts)).items():
            self._line += ["--timeout", f"{name}={seconds}"]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it leads."""
        self.launch()
        self.wait_until_it_leads()

    def launch(self) -> None:
        """Start it, unless it runs."""
        if self._process is None:
            with self.log.open("a") as log:
                self._process = subprocess.Popen(
                    self._line, stdout=subprocess.PIPE, stderr=log, text=True
                )

    def wait_until_it_leads(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        assert self._process.stdout.readline() == "leading\n", self.log.read_text()[-3000:]

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def forget(self) -> None:
        """Lose the database, of one that does not run."""
        shutil.rmtree(self._store)

    def stop(self) -> None:
        """Ask it to stop."""
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.terminate()
                process.wait(20)

    def kill(self) -> None:
        """Kill -9."""
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.kill()


class Stage:
    """All that runs, and the nodes."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane = plane
        self.folder = folder
        self.kubeconfig, self.certificate = admit_controller(plane)
        """Who the controller is."""
        self.controller = Controller(self.kubeconfig, folder)
        self.webhook = Command(plane.kubeconfig, folder)
        self.api = plane.api()
        self._added: list[str] = []
        self._cordoned: set[str] = set()

    def stop(self) -> None:
        self.controller.stop()
        self.webhook.stop()
        self.api.close()

    def upgrade(self, binaries: PlaneBinaries, kubernetes: str) -> None:
        """Replace the API server by one of a newer version; all others keep running."""
        self.api.close()
        self.plane.processes[API_SERVER].stop()
        self.plane.replace_programs(binaries, {API_SERVER: server_arguments(kubernetes)})
        self.plane.start_component(API_SERVER)
        self.api = self.plane.api()

    def by_way_of(self, proxy: Proxy) -> AbstractContextManager[None]:
        """Have the controller reach the server through a proxy, for a while."""
        return self._instead(Controller(proxy.kubeconfig, self.folder))

    def with_timeouts(self, **seconds: float) -> AbstractContextManager[None]:
        """Have it run with other timeouts, for a while."""
        named = {name.replace("_", "-"): each for name, each in seconds.items()}
        return self._instead(Controller(self.kubeconfig, self.folder, timeouts=named))

    def with_config(self, **settings: object) -> AbstractContextManager[None]:
        """Have it run with more settings, for a while."""
        config = QUEUES | settings
        return self._instead(Controller(self.kubeconfig, self.folder, "other", config=config))

    @contextmanager
    def _instead(self, other: Controller) -> Iterator[None]:
        before, self.controller = self.controller, other
        before.stop()
        other.start()
        try:
            yield
        finally:
            other.stop()
            self.controller = before
            before.start()

    def open_space(self, labels: dict[str, str] | None = None) -> Space:
        """A namespace that is new."""
        metadata = {"generateName": "test-", "labels": labels or {}}
        made = self.api.create("/api/v1/namespaces", {"metadata": metadata})
        return Space(self.api, made["metadata"]["name"], self.controller.log)

    # -- nodes ---------------------------------------------------------------------------------

    def nodes(self) -> dict[str, Object]:
        return {each["metadata"]["name"]: each for each in self.api.get(NODES)["items"]}

    def add_node(
        self, name: str, shape: NodeShape | None = None, *, ready: bool = True, **labels: str
    ) -> None:
        """A node more, until the test is over."""
        node = a_node(name, shape or NodeShape())
        node["metadata"]["labels"].update(labels)
        if not ready:
            node["metadata"]["annotations"] = {KUBELET: "stopped"}
            node["status"]["conditions"][0]["status"] = "False"
        self._added.append(name)
        self.api.create(NODES, node)
        for nodes in self.api.follow(NODES):
            if not ready or is_usable(nodes[name]):
                return

    def make_ready(self, name: str) -> None:
        """The kubelet of a node that was not ready starts."""
        self.api.patch(f"{NODES}/{name}", {"metadata": {"annotations": {KUBELET: None}}})

    def remove_node(self, name: str) -> None:
        self._added.remove(name)
        self.api.delete(f"{NODES}/{name}")

    def label(self, node: str, key: str, value: str | None) -> None:
        """Set a label of a node; None removes it."""
        self.api.patch(f"{NODES}/{node}", {"metadata": {"labels": {key: value}}})

    def cordon(self, *names: str) -> None:
        """Until they are uncordoned, or the test is over."""
        for name in names:
            self.api.patch(f"{NODES}/{name}", {"spec": {"unschedulable": True}})
            self._cordoned.add(name)

    def uncordon(self, *names: str) -> None:
        for name in names:
            self.api.patch(f"{NODES}/{name}", {"spec": {"unschedulable": None}})
            self._cordoned.remove(name)
        self._wait_until_open(names)

    def _wait_until_open(self, names: Iterable[str]) -> None:
        """A cordoned node also has a taint, which a controller takes away a moment later."""
        for nodes in self.api.follow(NODES):
            if not any(nodes[name]["spec"].get("taints") for name in names):
                return

    def leave_open(self, *names: str) -> None:
        """Cordon all nodes but these."""
        self.cordon(*(name for name in self.nodes() if name not in names))

    def tidy(self) -> None:
        """All nodes as they were."""
        for name in list(self._added):
            self._cordoned.discard(name)
            self.remove_node(name)
        self.uncordon(*self._cordoned)


@contextmanager
def a_stage(binaries: PlaneBinaries, nodes: int = 8, kubernetes: str = DEFAULT) -> Iterator[Stage]:
    """Start everything but the webhook, which comes up when it is asked for."""
    folder = reachable_folder("fluxnetes-stage-")
    plane = ControlPlane(
        folder / "plane",
        nodes=nodes,
        fsync=False,
        extra={
            API_SERVER: server_arguments(kubernetes),
            # It lets PodGroups go that no pod needs, and makes those of Jobs.
            CONTROLLERS: (native_group_gates(kubernetes),),
        },
        binaries=binaries,
    )
    try:
        with plane:
            stage = Stage(plane, folder)
            try:
                install_definitions(stage.api)
                stage.controller.start()
                yield stage
            finally:
                stage.stop()
    finally:
        shutil.rmtree(folder)
