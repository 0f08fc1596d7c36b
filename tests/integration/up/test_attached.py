"""`fluxnetes up --kubeconfig`: our scheduler for a cluster that is there, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fluxnetes.cli.up.show import print_cluster_usage
from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.errors import RequestRefused
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.webhook.run import listen
from tests.integration.plane.objects import PODS, a_job, a_pod, conditions, is_running, wait_for
from tests.integration.up.command import Up, run_up

NAMESPACES = "/api/v1/namespaces"
REGISTRATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


@pytest.fixture(scope="module")
def plane(
    binaries: PlaneBinaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A cluster that was not started by `fluxnetes up`."""
    folder = tmp_path_factory.mktemp("plane")
    with ControlPlane(folder, nodes=2, fsync=False, binaries=binaries) as plane:
        yield plane


@pytest.fixture
def api(plane: ControlPlane) -> Iterator[PlaneApi]:
    with plane.api() as api:
        yield api


@pytest.fixture
def url() -> str:
    """Where a webhook could listen."""
    with listen("127.0.0.1") as free:
        return f"https://127.0.0.1:{free.getsockname()[1]}"


def test_pods_that_name_us_and_all_that_opted_in_are_scheduled_and_the_webhook_goes_with_us(
    plane: ControlPlane, api: PlaneApi, folder: Path, url: str
) -> None:
    with Up(*_attached(plane, folder), "--webhook-url", url) as up:
        message = up.read_until("Ctrl-C")
        assert plane.server in message and url in message
        assert len(up.children()) == len(("controller", "webhook", "postgres"))
        api.create(PODS, a_pod("ours", schedulerName="fluxnetes"))
        wait_for(api, PODS, "ours", is_running)
        _run_opted_in(api, "physics")
        assert up.interrupt() == 0
    with pytest.raises(RequestRefused, match="404"):
        api.get(f"{REGISTRATIONS}/fluxnetes")


def test_a_webhook_that_others_rely_on_is_not_replaced(
    plane: ControlPlane, api: PlaneApi, folder: Path, url: str
) -> None:
    service = {"namespace": "fluxnetes-system", "name": "fluxnetes-webhook"}
    webhook = {
        "name": "all.webhook.fluxnetes.io",
        "clientConfig": {"service": service},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    api.create(REGISTRATIONS, {"metadata": {"name": "fluxnetes"}, "webhooks": [webhook]})
    message = run_up(*_attached(plane, folder), "--webhook-url", url, status=1)
    api.delete(f"{REGISTRATIONS}/fluxnetes")
    assert "a webhook of Fluxnetes is already registered, at a service of the cluster" in message


def test_a_port_that_is_taken_is_reported(plane: ControlPlane, folder: Path, url: str) -> None:
    with listen("127.0.0.1", int(url.rpartition(":")[2])):
        message = run_up(*_attached(plane, folder), "--webhook-url", url, status=1)
    assert "the webhook cannot listen at 127.0.0.1" in message
    assert "choose another port in --webhook-url" in message


def test_a_cluster_that_does_not_answer_is_reported_and_nothing_is_made(
    plane: ControlPlane, folder: Path, tmp_path: Path
) -> None:
    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    nowhere = tmp_path / "kubeconfig"
    nowhere.write_text(yaml.safe_dump(config))
    message = run_up("--kubeconfig", str(nowhere), "--folder", str(folder), status=1)
    assert "https://127.0.0.1:1: cannot connect to 127.0.0.1:1: connection refused" in message
    assert not folder.exists()


def test_a_context_that_is_not_there_is_reported(plane: ControlPlane, folder: Path) -> None:
    message = run_up(*_attached(plane, folder), "--context", "lab", status=1)
    assert "has no context 'lab'; it has fluxnetes" in message


def test_it_says_what_does_not_work_without_a_webhook(capsys: pytest.CaptureFixture[str]) -> None:
    print_cluster_usage("https://10.0.0.1:6443", Path("folder"), None)
    message = " ".join(capsys.readouterr().out.split())
    assert "the label fluxnetes.io/managed has no effect" in message
    assert "Pods that name the scheduler fluxnetes wait in its queue." in message


def _attached(plane: ControlPlane, folder: Path) -> tuple[str, ...]:
    return ("--kubeconfig", str(plane.kubeconfig), "--folder", str(folder))


def _run_opted_in(api: PlaneApi, namespace: str) -> None:
    """A plain Job in a namespace with the label goes through the queue."""
    labels = {"fluxnetes.io/managed": "true"}
    api.create(NAMESPACES, {"metadata": {"name": namespace, "labels": labels}})
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    made = api.create(jobs, a_job("plain", {"fluxnetes.io/run-time": "1s"}))
    assert made["spec"]["suspend"]
    wait_for(api, jobs, "plain", lambda job: conditions(job).get("Complete") == "True")
