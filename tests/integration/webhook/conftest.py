"""A real API server with its controllers, and the webhook as the command that users start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fluxnetes.kube.auth.access import ApiAccess, find_access
from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.components import API_SERVER, CONTROLLERS, ETCD
from fluxnetes.plane.plane import ControlPlane
from tests.integration.webhook.command import Command
from tests.integration.webhook.objects import MANAGED


@pytest.fixture(scope="package")
def plane(
    binaries: PlaneBinaries,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ControlPlane]:
    """A real API server and its controllers; no kubelet runs on the two nodes."""
    with ControlPlane(
        tmp_path_factory.mktemp("plane"),
        nodes=2,
        components=(ETCD, API_SERVER, CONTROLLERS),
        fsync=False,
        # A pod may be made before its namespace has its service account.
        extra={API_SERVER: ("--disable-admission-plugins=ServiceAccount",)},
        binaries=binaries,
    ) as plane:
        yield plane


@pytest.fixture(scope="package")
def command(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    command = Command(plane.kubeconfig, tmp_path_factory.mktemp("webhook"))
    yield command
    command.stop()


@pytest.fixture
def webhook(command: Command) -> Command:
    """The webhook, up and registered."""
    command.start()
    return command


@pytest.fixture
def access(plane: ControlPlane) -> ApiAccess:
    """As an admin."""
    return find_access(plane.kubeconfig)


@pytest.fixture
def api(plane: ControlPlane) -> Iterator[PlaneApi]:
    """As an admin, without waiting for anything."""
    with plane.api() as api:
        yield api


@pytest.fixture
def opted_in(api: PlaneApi) -> str:
    """A namespace that is this test's alone, and goes through the queue."""
    return make_namespace(api, MANAGED)


@pytest.fixture
def ordinary(api: PlaneApi) -> str:
    """A namespace that is this test's alone."""
    return make_namespace(api, {})


def make_namespace(api: PlaneApi, labels: dict[str, str]) -> str:
    metadata = {"generateName": "test-", "labels": labels}
    name: str = api.create("/api/v1/namespaces", {"metadata": metadata})["metadata"]["name"]
    return name
