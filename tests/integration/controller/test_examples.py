"""The manifests of the earlier systems, in their own words, do what their comments say.

All are applied at once, as when a cluster is moved to Fluxnetes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.integration.controller.pod_groups import OF_PLUGINS
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "kubernetes"
OF_EARLIER_SYSTEMS = ("fluence-*.yaml", "fluxnetes-*.yaml", "fluxqueue-*.yaml", "podgroup-*.yaml")

COMPLETE = {
    "fluence-job": 1,
    "fluence-sized-job": 3,
    "fluence-group-1": 4,
    "fluence-group-2": 4,
    "fluence-indexed-1": 5,
    "fluence-indexed-2": 5,
    "fluence-annotations": 3,
    "fluxnetes-job": 1,
    "fluxnetes-job-10": 10,
    "fluxnetes-batch-1": 1,
    "fluxnetes-batch-2": 1,
    "fluxnetes-batch-3": 2,
    "fluxnetes-batch-4": 2,
    "fluxnetes-batch-5": 1,
    "fluxqueue-job": 2,
    "podgroup-job": 3,
}
"""Jobs that complete, and the size of their groups."""


@pytest.fixture(scope="module")
def applied(whole_stage: Stage) -> Iterator[Space]:
    """A namespace with all of them."""
    whole_stage.webhook.start()
    space = whole_stage.open_space()
    for pattern in OF_EARLIER_SYSTEMS:
        for file in sorted(EXAMPLES.glob(pattern)):
            for content in yaml.safe_load_all(file.read_text()):
                path = OF_PLUGINS.format(space.namespace)
                kind = content["kind"]
                space.api.create(path if kind == "PodGroup" else space.path(kind), content)
    yield space
    space.clean()


@pytest.mark.parametrize("job", COMPLETE)
def test_a_job_of_an_earlier_system_runs_as_one_group(applied: Space, job: str) -> None:
    status = applied.until_state(f"{job}-job", "completed")
    assert status["size"] == COMPLETE[job]
    applied.until_condition(job, "Complete")


def test_every_job_of_the_examples_is_named_here(applied: Space) -> None:
    foreign = {"fluxnetes-job-deadline", "fluxnetes-job-unsatisfiable"}
    assert set(applied.all("Job")) == COMPLETE.keys() | foreign


@pytest.mark.parametrize(
    ("name", "scheduler"),
    [("fluence-pod", "fluence"), ("fluxqueue-pod", "FluxionScheduler")],
)
def test_a_pod_of_an_earlier_system_is_placed_by_the_scheduler_that_it_names(
    applied: Space, name: str, scheduler: str
) -> None:
    applied.until_bound(name)
    assert applied.until_event(name, "Scheduled")["reportingController"] == scheduler


def test_deadlines_of_pods_are_their_walltimes(applied: Space) -> None:
    assert applied.until_condition("fluxnetes-job-deadline", "Failed")
    # Kubernetes says of the Job that it failed, and of its pod that it exceeded its deadline.
    assert applied.until_state("fluxnetes-job-deadline-job", "failed")["walltime"] == 5
    (pod,) = applied.until_phase("Failed", "fluxnetes-pod")
    assert pod["status"]["reason"] == "DeadlineExceeded"


def test_the_unsatisfiable_job_waits_for_nodes_that_can_serve_it(applied: Space) -> None:
    status = applied.until_reason("fluxnetes-job-unsatisfiable-job", "Unsatisfiable")
    assert status["state"] == "pending"
    assert "cpu" in status["reason"]
    job = applied.get("Job", "fluxnetes-job-unsatisfiable")
    assert job["status"].get("failed", 0) == 0
