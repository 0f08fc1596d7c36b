"""A database that was lost: a controller with an empty one rebuilds what the cluster records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg
import pytest

from fluxnetes.plane.api import Object
from tests.integration.controller.candidates import Play, Theatre
from tests.integration.controller.objects import JobMaker, PodMaker, a_gang, a_job, a_pod
from tests.integration.controller.space import Space, Things, is_alive, node_of, of_job


@dataclass(frozen=True)
class Rebuilt:
    """A cluster after its database was lost."""

    play: Play
    last_bound: int
    """The highest number of a job that a pod was bound for."""
    before: dict[str, Object]
    """The records of then, by name."""

    @property
    def space(self) -> Space:
        return self.play.space

    def jobs(self, name: str) -> list[tuple[int, str]]:
        """What the new database knows of a group: numbers and states."""
        return [(row["id"], row["state"]) for row in self._rows(name)]

    def start(self, name: str) -> datetime:
        """When the job of a group started, according to the new database."""
        [row] = self._rows(name)
        return datetime.fromtimestamp(row["start"], UTC)

    def _rows(self, name: str) -> list[asyncpg.Record]:
        query = "SELECT jobs.id, state, start FROM jobs JOIN submissions USING (id) WHERE name = $1"
        return self.play.rows(query, name)


@pytest.fixture(scope="module")
def rebuilt(theatre: Theatre) -> Iterator[Rebuilt]:
    with theatre.play() as play:
        with play.launch("a") as first:
            first.until_leads()
            populate(play.space)
            first.stop()
        bound = [pod for pod in play.space.all("Pod").values() if node_of(pod)]
        last = max(int(pod["metadata"]["annotations"]["fluxnetes.io/job"]) for pod in bound)
        before = play.space.all("FluxJob")
        play.dsn = theatre.new_database()
        play.launch("b").until_leads()
        play.space.create(a_pod("signal"))
        play.space.until_bound("signal")  # so everything has been looked at, and written down
        yield Rebuilt(play, last, before)


def populate(space: Space) -> None:
    """Something in every state that must be found again."""
    space.create(a_pod("there").with_cpu(16).on("node-7"))
    space.until_bound("there")
    space.create(a_pod("z").with_cpu(16).on("node-7"))
    space.create(a_gang_of("done", "1s", "1s"), a_gang_of("half", "1s", "1h"))
    space.create(a_job("prepare").running_for("1s").queued())
    space.create(a_job("broken").failing().running_for("1s").with_job(backoffLimit=0).queued())
    space.create(a_job("train").of(2).running_for("1h").with_walltime(3600).queued())
    space.create(a_job("steps").with_job(parallelism=1, completions=2).running_for("1h").queued())
    space.until_condition("prepare", "Complete")
    space.until_condition("broken", "Failed")
    space.create(after("next", afterok="job/prepare", hold="true"))
    space.create(after("anyway", afterany="job/broken", hold="true"))
    space.create(after("behind", afterany="job/train"))
    space.create(after("never", afterok="job/broken"))
    space.until_job_bound("train", 2)
    for name in ("next-job", "anyway-job"):
        space.until_state(name, "held")
    space.until_state("behind-job", "pending")
    space.until_state("never-job", "rejected")
    space.until_phase("Succeeded", "done-0", "done-1", "half-0")
    end_first(space, "steps")
    space.create(a_pod("a").with_cpu(16).on("node-7"))
    space.until_waits("z", "a")
    space.until_state("train-job", "running")


def end_first(space: Space, job: str) -> None:
    """The first pod of a Job succeeds, and the next one starts."""
    (first,) = space.until_job_bound(job, 1)
    name = first["metadata"]["name"]
    space.patch("Pod", f"{name}/status", {"status": {"phase": "Succeeded"}})
    space.until("Pod", lambda pods: [p for p in bound_of(pods, job) if is_alive(p)])


def bound_of(pods: Things, job: str) -> list[Object]:
    return [pod for pod in pods.values() if of_job(pod) == job and node_of(pod)]


def a_gang_of(name: str, *times: str) -> list[PodMaker]:
    pods = a_gang(name, len(times))
    return [pod.running_for(time) for pod, time in zip(pods, times, strict=True)]


def after(name: str, **options: str) -> JobMaker:
    named = {f"fluxnetes.io/{key}": value for key, value in options.items()}
    return a_job(name).running_for("1s").annotated(named).queued()


def starts_of(space: Space, job: str) -> list[datetime]:
    """When the pods of a Job started, those that have ended too, the first first."""
    pods = [pod for pod in space.all("Pod").values() if of_job(pod) == job]
    known = [pod["status"]["startTime"] for pod in pods if "startTime" in pod["status"]]
    return sorted(map(datetime.fromisoformat, known))


# --- what runs, and what is over ---------------------------------------------------------------


def test_a_job_that_runs_goes_on_with_its_number_and_its_walltime(rebuilt: Rebuilt) -> None:
    before = rebuilt.before["train-job"]["status"]
    assert rebuilt.jobs("train") == [(before["jobID"], "running")]
    assert rebuilt.start("train") == starts_of(rebuilt.space, "train")[0]
    status = rebuilt.space.get("FluxJob", "train-job")["status"]
    assert status["walltime"] == before["walltime"] == 3600


def test_a_job_runs_since_its_first_pod_even_if_that_has_ended(rebuilt: Rebuilt) -> None:
    first, second = starts_of(rebuilt.space, "steps")
    assert rebuilt.start("steps") == first < second


def test_a_gang_of_which_a_part_has_ended_goes_on_and_asks_for_nothing(rebuilt: Rebuilt) -> None:
    number = rebuilt.before["half-group"]["status"]["jobID"]
    assert rebuilt.jobs("half") == [(number, "running")]


def test_what_is_over_is_not_queued_again(rebuilt: Rebuilt) -> None:
    for name in ("done", "prepare", "broken"):
        assert rebuilt.jobs(name) == []
    assert rebuilt.space.get("FluxJob", "done-group")["status"]["state"] == "completed"


# --- what waits --------------------------------------------------------------------------------


def test_what_is_queued_anew_has_a_new_number(rebuilt: Rebuilt) -> None:
    for name in ("next", "anyway", "behind", "z", "a"):
        [(number, _)] = rebuilt.jobs(name)
        assert number > rebuilt.last_bound


def test_a_hold_and_a_dependency_on_what_has_ended_are_kept(rebuilt: Rebuilt) -> None:
    for name in ("next", "anyway"):
        rebuilt.space.until_state(f"{name}-job", "held")
        assert rebuilt.space.get("Job", name)["spec"]["suspend"]
        rebuilt.space.annotate("Job", name, hold=None)
        rebuilt.space.until_condition(name, "Complete")


def test_what_depends_on_a_failure_still_never_starts(rebuilt: Rebuilt) -> None:
    rebuilt.space.until_event(
        "never", "FailedScheduling", "after job/broken succeeded, and that failed"
    )
    assert rebuilt.space.get("Job", "never")["spec"]["suspend"]


def test_a_dependency_on_what_still_runs_is_kept(rebuilt: Rebuilt) -> None:
    rebuilt.space.until_state("behind-job", "pending")
    assert rebuilt.space.get("Job", "behind")["spec"]["suspend"]
    rebuilt.space.delete("Job", "train")
    rebuilt.space.until_condition("behind", "Complete")


def test_waiting_jobs_are_in_the_order_in_which_they_were_created(rebuilt: Rebuilt) -> None:
    rebuilt.space.delete("Pod", "there")
    rebuilt.space.until_bound("z")
    assert rebuilt.space.node_of("a") == ""
