"""What callers are given and what pods are given is never the same."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from fluxnetes.client import Busy, Client, Gang, Node, UnknownJob
from tests.integration.controller.objects import PodMaker, a_gang, a_pod
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.waiting import until
from tests.integration.rpc_live.leading import ADA, Leading
from tests.integration.rpc_live.looking import CPU, bound, callers_jobs, check_fits

SECONDS = 4.0


def call(address: str, seed: int, stop: Event) -> int:
    """Match and give back, at random; how often it was given something."""
    draw, has, given = random.Random(seed), list[int](), 0
    with Client(address, token=ADA) as client:
        while not stop.is_set():
            try:
                if draw.random() < 0.5:
                    asked = Gang.of(draw.randint(1, 4), cpu=draw.randint(500, 6000))
                    job = client.match(asked, walltime=5)
                else:
                    job = client.match(slots(draw.randint(1, 4), draw.randint(1, 5), 5))
                has.append(job.id)
                given += 1
            except Busy:
                pass
            while has and (len(has) > 3 or draw.random() < 0.5):
                client.cancel(has.pop(draw.randrange(len(has))))
            stop.wait(draw.random() * 0.1)
        for job_id in has:
            client.cancel(job_id)
    return given


def make_pods(stage: Stage, space: Space, seed: int, stop: Event) -> None:
    """Pods and gangs that come, run for a moment, and go."""
    draw, number = random.Random(seed), 0
    with stage.plane.api() as api:  # a connection is for one thread
        mine = Space(api, space.namespace, stage.controller.log)
        while not stop.is_set():
            number += 1
            mine.create(some_pods(draw, f"{seed}-{number}"))
            stop.wait(draw.random() * 0.3)


def some_pods(draw: random.Random, name: str) -> list[PodMaker]:
    cpu = draw.randint(1, 6)
    if draw.random() < 0.3:
        made = a_gang(f"gang{name}", draw.randint(2, 4), cpu)
    else:
        made = [a_pod(f"pod{name}").with_cpu(cpu)]
    return [each.with_walltime(5).running_for("1s") for each in made]


def test_callers_and_pods_at_once_never_get_the_same(
    client: Client, leader: Leading, space: Space, stage: Stage
) -> None:
    stop, looks, both = Event(), 0, 0
    with ThreadPoolExecutor(4) as threads:
        callers = [threads.submit(call, leader.address, seed, stop) for seed in range(2)]
        making = threads.submit(make_pods, stage, space, 7, stop)
        began = time.monotonic()
        try:
            # On a busy machine it takes longer to see both on a node often enough.
            while (took := time.monotonic() - began) < SECONDS or (
                both <= 10 and took < 10 * SECONDS
            ):
                before = bound(stage.api)
                nodes = client.nodes()
                after = bound(stage.api)
                check_fits(nodes)
                # Those that were there before and after were there all the while.
                there = {uid: after[uid] for uid in before.keys() & after.keys()}
                mine = callers_jobs_on(client, nodes)
                for node in nodes:
                    cpu = sum(cpu for where, cpu in there.values() if where == node.name)
                    assert cpu + mine.get(node.name, 0) <= CPU, (node, there)
                    looks, both = looks + 1, both + bool(cpu and mine.get(node.name))
        finally:
            stop.set()
        given = [each.result(30) for each in callers]
        making.result(30)
    assert sum(given) > 10 and both > 10, (given, both, looks)
    space.api.delete(f"{space.path('Pod')}?gracePeriodSeconds=0")
    space.until_gone("Pod")
    until(lambda: all(not node.shares for node in client.nodes()), "something was left behind")
    assert not callers_jobs(client)


def is_callers(client: Client, job: int) -> bool:
    try:
        return client.job(job).user == "ada"
    except UnknownJob:  # it ended, and so many have ended since that it is forgotten
        return False


def callers_jobs_on(client: Client, nodes: list[Node]) -> dict[str, int]:
    """The cpu that callers have of each node, of those jobs that they still have now."""
    found: dict[str, int] = {}
    known: dict[int, bool] = {}
    for node in nodes:
        for share in node.shares:
            if share.job not in known:
                known[share.job] = is_callers(client, share.job)
            if known[share.job]:
                found[node.name] = found.get(node.name, 0) + share.amounts.get("cpu", 0)
    return found
