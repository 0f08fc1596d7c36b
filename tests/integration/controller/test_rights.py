"""The controller with just the rights of its manifest: they are enough, and each of them is needed.

One controller does everything once that it can do, on a control plane that writes down what it
asks for. It begins without the definition of FluxJobs.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fluxnetes.controller.leadership.crd import manifest
from fluxnetes.plane.api import Object, PlaneApi
from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.certificates import PlaneCertificate
from fluxnetes.plane.components import API_SERVER, CONTROLLERS, ETCD, KWOK
from fluxnetes.plane.errors import RequestRefused
from fluxnetes.plane.nodes import NODES
from fluxnetes.plane.plane import ControlPlane
from tests.integration.bare import server_arguments
from tests.integration.controller.audit import Asked, Right, arguments, asked, granted
from tests.integration.controller.candidates import Candidate
from tests.integration.controller.objects import a_gang, a_job, a_pod
from tests.integration.controller.pod_groups import (
    DEFINITIONS,
    NATIVE,
    OF_PLUGINS,
    install_definitions,
    make_native_pod_group,
    make_pod_group,
    native_version,
    until_condition,
    until_phase,
)
from tests.integration.controller.proxy import Proxy
from tests.integration.controller.rights import USER, admit_controller
from tests.integration.controller.space import Space

DEFINITION = f"{DEFINITIONS}/{manifest()['metadata']['name']}"
ROLES = list(
    yaml.safe_load_all(
        Path(__file__)
        .parents[3]
        .joinpath("src/fluxnetes/controller/manifests/role.yaml")
        .read_text()
    )
)


@dataclass(frozen=True)
class Site:
    """A control plane, and the controller that plays on it."""

    plane: ControlPlane
    api: PlaneApi
    who: PlaneCertificate
    proxy: Proxy
    log: Path
    folder: Path

    def controller(self) -> Candidate:
        store = self.folder / "store"
        way = self.proxy.kubeconfig
        options = {"kubeconfig": way, "store_folder": store, "identity": "one"}
        return Candidate(self.log, options, stalled_group=2)

    def open_space(self) -> Space:
        made = self.api.create("/api/v1/namespaces", {"metadata": {"generateName": "test-"}})
        return Space(self.api, made["metadata"]["name"], self.log)


@pytest.fixture(scope="module")
def site(binaries: PlaneBinaries) -> Iterator[Site]:
    folder = Path(tempfile.mkdtemp(prefix="fluxnetes-rights-"))
    folder.chmod(0o711)
    extra = (*server_arguments(), *arguments(folder, USER))
    plane = ControlPlane(
        folder / "plane",
        nodes=3,
        components=(ETCD, API_SERVER, CONTROLLERS, KWOK),
        fsync=False,
        extra={API_SERVER: extra},
        binaries=binaries,
    )
    with plane, plane.api() as api:
        install_definitions(api)
        _, who = admit_controller(plane)
        api.delete(DEFINITION)
        with Proxy(plane, folder, who) as proxy:
            yield Site(plane, api, who, proxy, folder / "log", folder)
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Seen:
    """What came of it."""

    requests: list[Asked]
    log: str
    before_the_definition: str
    """The log up to then."""


@pytest.fixture(scope="module")
def seen(site: Site) -> Seen:
    """Everything is done once; whatever does not happen fails here."""
    with site.controller() as one:
        one.until_leads()
        space = site.open_space()
        run_without_records(space)
        before = site.log.read_text()
        site.api.create(DEFINITIONS, manifest())
        one.until_says("watching fluxjobs: works again")
        for step in STEPS:
            step(site, space)
        one.stop()
    with site.controller() as one:
        one.until_leads()
        one.stop()
    return Seen(list(asked(site.folder)), site.log.read_text(), before)


# --- what it does ------------------------------------------------------------------------------


def run_without_records(space: Space) -> None:
    space.create(a_job("early").of(2).running_for("1s").queued())
    space.until_condition("early", "Complete")


def place_a_gang(site: Site, space: Space) -> None:
    space.create(a_gang("g", 2))
    space.until_bound("g-0", "g-1")
    space.until_state("g-group", "running")
    space.until_event("g-0", "Scheduled")


def lose_the_answer_to_a_bind(site: Site, space: Space) -> None:
    with site.proxy.not_answering("POST", "/pods/lonely/binding", times=1) as lost:
        space.create(a_pod("lonely"))
        lost.until_hit()
        space.until_event("lonely", "Scheduled")


def take_off_a_gate(site: Site, space: Space) -> None:
    space.create(a_pod("gated").with_spec(schedulingGates=[{"name": "fluxqueue"}]))
    space.until_bound("gated")


def let_go_and_take_back(site: Site, space: Space) -> None:
    """A quota keeps the pods from being made."""
    narrow = site.open_space()
    quotas = f"/api/v1/namespaces/{narrow.namespace}/resourcequotas"
    site.api.create(quotas, {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}})
    narrow.until_one(quotas, "none", lambda quota: "hard" in quota.get("status", {}))
    narrow.create(a_job("stuck").queued())
    narrow.until_event("stuck", "Requeued", "there was no progress")
    site.api.delete(f"{quotas}/none")
    narrow.until_job_bound("stuck", 1)


def end_what_is_out_of_time(site: Site, space: Space) -> None:
    space.create(a_job("late").with_walltime(1).running_for("1h").queued())
    space.create(a_pod("slow").with_walltime(1))
    assert space.until_condition("late", "Failed")["reason"] == "DeadlineExceeded"
    space.until_state("late-job", "timed out")
    space.until_phase("Failed", "slow")


def say_why_one_waits(site: Site, space: Space) -> None:
    space.create(a_gang("big", 2, cpu=15))
    space.until_bound("big-0", "big-1")
    space.create(a_gang("waits", 2, cpu=15))
    space.until_event("waits-0", "FailedScheduling", "not yet: ")
    space.until_one(
        "Pod", "waits-0", lambda pod: "Unschedulable" in str(pod["status"].get("conditions"))
    )


def use_a_name_again(site: Site, space: Space) -> None:
    """The record of the first one goes."""
    space.delete("Pod", "waits-0", "waits-1")
    space.until_state("waits-group", "cancelled")
    space.until_gone("Pod", "waits-0", "waits-1")
    space.create(a_gang("waits", 2))
    space.until_state("waits-group", "running")


def change_a_job_that_is_held(site: Site, space: Space) -> None:
    space.create(a_job("held").annotated({"fluxnetes.io/hold": "true"}).queued())
    space.until_state("held-job", "held")
    space.annotate("Job", "held", walltime="60")
    space.until_one("FluxJob", "held-job", lambda record: record["spec"].get("duration") == 60)


def suspend_the_owner_of_a_job_that_waits(site: Site, space: Space) -> None:
    """JobSets are not served here; the request is answered by 404."""
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set"}
    owned = a_job("owned").annotated({"fluxnetes.io/hold": "true"})
    owned.with_job(activeDeadlineSeconds=600)
    owned.content["metadata"]["ownerReferences"] = [{**owner, "uid": "1", "controller": True}]
    space.create(owned)
    space.until_event("owned", "Suspended", "deadline")


def end_a_gang_that_lost_a_node(site: Site, space: Space) -> None:
    lost = space.node_of("big-0")
    site.api.delete(f"{NODES}/{lost}")
    # What the pod collector of Kubernetes does after a minute.
    site.api.delete(f"{space.path('Pod', 'big-0')}?gracePeriodSeconds=0")
    space.until_state("big-group", "failed")
    space.until_gone("Pod", "big-1")


def say_how_far_pod_groups_are(site: Site, space: Space) -> None:
    make_pod_group(space, "plugins", 1)
    make_native_pod_group(space, "native", 1)
    space.create(a_pod("of-plugins").labelled({"scheduling.x-k8s.io/pod-group": "plugins"}))
    space.create(a_pod("of-native").with_spec(schedulingGroup={"podGroupName": "native"}))
    until_phase(space, OF_PLUGINS.format(space.namespace), "plugins", "Running")
    path = NATIVE.format(native_version(space.api), space.namespace)
    until_condition(space, path, "native", "True")


def leave_a_name_to_another(site: Site, space: Space) -> None:
    kind = {"apiVersion": "jobs.converged-computing.org/v1alpha1", "kind": "FluxJob"}
    site.api.create(
        space.path("FluxJob"), {**kind, "metadata": {"name": "taken-group"}, "spec": {}}
    )
    space.create(a_gang("taken", 2))
    space.until("FluxJob", lambda jobs: sum(name.startswith("taken-") for name in jobs) == 2)


STEPS: tuple[Callable[[Site, Space], None], ...] = (
    place_a_gang,
    lose_the_answer_to_a_bind,
    take_off_a_gate,
    let_go_and_take_back,
    end_what_is_out_of_time,
    say_why_one_waits,
    use_a_name_again,
    change_a_job_that_is_held,
    suspend_the_owner_of_a_job_that_waits,
    end_a_gang_that_lost_a_node,
    leave_a_name_to_another,
    say_how_far_pod_groups_are,
)


# --- enough ------------------------------------------------------------------------------------


def test_nothing_that_the_controller_asks_for_is_forbidden(seen: Seen) -> None:
    """But to make the definition of FluxJobs, which an administrator does."""
    refused = {each.right for each in seen.requests if not each.is_allowed}
    assert refused == {Right("patch", "apiextensions.k8s.io", "customresourcedefinitions")}


def test_nothing_in_the_log_says_forbidden_once_the_definition_is_there(seen: Seen) -> None:
    assert "forbidden" not in seen.log.removeprefix(seen.before_the_definition).lower()


def test_without_the_definition_jobs_run_and_the_log_says_what_to_do(seen: Seen) -> None:
    [line] = [line for line in seen.before_the_definition.splitlines() if "orbidden" in line]
    assert "jobs will run, but without FluxJobs" in line
    assert line.endswith(
        "have an administrator apply controller/manifests/fluxjobs.yaml of this package"
    )


# --- and no more -------------------------------------------------------------------------------


def test_every_right_is_made_use_of(seen: Seen) -> None:
    assert granted(ROLES) - {each.right for each in seen.requests} == set()


def test_no_right_is_for_everything() -> None:
    assert not [right for right in granted(ROLES) if "*" in "".join(right)]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/secrets",
        "/api/v1/namespaces/kube-system/secrets",
        "/api/v1/configmaps",
        "/api/v1/namespaces/fluxnetes-system/configmaps",
        "/api/v1/namespaces",
        "/apis/coordination.k8s.io/v1/leases",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    ],
)
def test_the_controller_may_not_read_what_it_does_not_need(site: Site, path: str) -> None:
    with as_controller(site) as api, pytest.raises(RequestRefused, match="forbidden"):
        api.get(path)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/api/v1/namespaces/default/pods", a_pod("a").content),
        ("/apis/batch/v1/namespaces/default/jobs", a_job("a").content),
        ("/api/v1/namespaces/default/serviceaccounts/default/token", {}),
    ],
)
def test_the_controller_may_not_make_anything_that_runs(
    site: Site, path: str, content: dict[str, Any]
) -> None:
    with as_controller(site) as api, pytest.raises(RequestRefused, match="forbidden"):
        api.create(path, content)


def test_the_controller_may_not_change_nodes(site: Site) -> None:
    name: Object = site.api.get(NODES)["items"][0]["metadata"]["name"]
    with as_controller(site) as api, pytest.raises(RequestRefused, match="forbidden"):
        api.patch(f"{NODES}/{name}", {"spec": {"unschedulable": True}})


def as_controller(site: Site) -> PlaneApi:
    port = int(site.plane.server.rpartition(":")[2])
    return PlaneApi(port, site.plane.paths.keys / "ca.crt", site.who)
