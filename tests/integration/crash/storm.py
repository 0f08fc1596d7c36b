"""The run: work comes, things are killed, and then everything is let end.

When work comes and which component is killed when follow from the seed. Half of the kills are
aimed: they fall right after some work came, when its pods are being placed. All happens in one
thread, so while the API server is away nothing new comes either, but late.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from fluxnetes.plane.api import Object
from fluxnetes.plane.errors import PlaneFailed
from tests.integration.crash.manifests import JOBS, PODS, WORK, has_ended, is_over, manifests
from tests.integration.crash.site import Site, Victim
from tests.integration.crash.works import Fate, Work, draw, whole_cluster

PACE = 4.0
"""Seconds from one kill to the next, on average."""
_LOOK = 0.05


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen, as drawn."""

    seed: int
    works: tuple[Work, ...]
    kills: tuple[tuple[float, Victim], ...]


def plan(seed: int, kills: Mapping[Victim, int], nodes: int) -> Plan:
    rng = random.Random(seed)
    victims = [victim for victim, count in kills.items() for _ in range(count)]
    rng.shuffle(victims)
    seconds = PACE * max(len(victims), 3)
    works = draw(rng, seconds, nodes)
    moments = sorted(_moment(rng, works, seconds) for _ in victims)
    return Plan(seed, tuple(works), tuple(zip(moments, victims, strict=True)))


def _moment(rng: random.Random, works: list[Work], seconds: float) -> float:
    if rng.random() < 0.5:
        return rng.choice(works).at + rng.uniform(0.02, 0.5)
    return rng.uniform(1.0, seconds)


def rage(site: Site, plan: Plan) -> None:
    """Let it all happen, in order of time."""
    steps: list[tuple[float, Callable[[], None]]] = []
    for work in plan.works:
        steps.append((work.at, partial(submit, site, work)))
        if work.fate is Fate.DELETED:
            steps.append((work.at + work.deleted_after, partial(delete, site, work)))
    steps += [(at, partial(site.kill, victim)) for at, victim in plan.kills]
    began = time.monotonic()
    for at, step in sorted(steps, key=lambda each: each[0]):
        while (left := began + at - time.monotonic()) > 0:
            site.mind_controller()
            time.sleep(min(left, _LOOK))
        step()


def submit(site: Site, work: Work) -> None:
    for path, thing in manifests(work):
        site.persist(partial(site.api.create, path, thing), "AlreadyExists")


def delete(site: Site, work: Work) -> None:
    for path, thing in manifests(work):
        one = f"{path}/{thing['metadata']['name']}?propagationPolicy=Background"
        site.persist(partial(site.api.delete, one), "NotFound")


# --- the end -----------------------------------------------------------------------------------


def calm(site: Site, works: tuple[Work, ...], seconds: float) -> list[str]:
    """Wait until all work has ended as far as users see it; what has not, in words."""
    deadline = time.monotonic() + seconds
    late = []
    for work in works:
        site.mind_controller()
        left = max(1.0, deadline - time.monotonic())
        try:
            await_end(site, work, left)
        except PlaneFailed as failed:
            late.append(f"{work.name} ({work.fate.value}) did not end: {failed}")
    return late


def fill(site: Site, seconds: float) -> tuple[Work, list[str]]:
    """Last, a gang that needs everything there is."""
    work = whole_cluster(site.nodes)
    submit(site, work)
    return work, calm(site, (work,), seconds)


def await_end(site: Site, work: Work, seconds: float) -> None:
    path = f"{JOBS if work.is_job else PODS}?labelSelector={quote(WORK)}%3D{work.name}"
    deadline = time.monotonic() + seconds
    while True:
        try:
            for found in site.api.follow(path, max(1.0, deadline - time.monotonic())):
                if _is_settled(work, list(found.values())):
                    return
        except TimeoutError:  # nothing happens for a minute while it waits its turn
            site.mind_controller()


def _is_settled(work: Work, things: list[Object]) -> bool:
    if work.fate is Fate.DELETED:
        return not things
    if work.is_job:
        return any(has_ended(job) for job in things)
    if work.fate is Fate.IMPOSSIBLE:
        return all(_is_refused(pod) for pod in things)
    return len(things) < work.pods or all(is_over(pod) for pod in things)


def _is_refused(pod: Object) -> bool:
    """Nothing more will become of it. (What is reported of it is not tested here.)"""
    return "nodeName" not in pod["spec"]
