"""Values that Postgres refuses: they fail one call, and every other call is answered as before.

The values are drawn: texts with characters that Postgres or UTF-8 cannot hold, and texts and
numbers beyond what its columns and indexes take.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.readers import read_graph
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.match.matcher import Matcher
from fluxnetes.queue import scheduler
from fluxnetes.queue.config import SchedulerConfig
from fluxnetes.queue.jobs import Submission
from fluxnetes.service import matcher_ops
from fluxnetes.service.errors import ServiceError
from fluxnetes.service.leases.caller_leases import CallerLeases
from fluxnetes.service.mailbox import Mailbox, QueueRequest
from fluxnetes.service.matcher_backend import MatcherBackend
from fluxnetes.service.operations import QueueOperations
from fluxnetes.service.persistence import allocations
from fluxnetes.service.queue_runner import resume_queue
from fluxnetes.service.requests import jobspec_cache
from fluxnetes.service.requests.jobspec_cache import read_jobspec
from fluxnetes.service.values import AllocationUpdate, EqualPods, MatchCall
from fluxnetes.store.store import open_store
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.test_writing import a_backend, a_call
from tests.integration.store.servers import wipe
from tests.property.profile import examples
from tests.unit.service.manual_queue import CallersOnly

BAD_CHARACTERS = "\0\ud800\udfff\uffff\U0010ffff'\\\n\x7f"
TEXTS = st.text(st.sampled_from("ab" + BAD_CHARACTERS), max_size=4) | st.integers(2600, 9000).map(
    lambda size: "".join(map(chr, range(33, 33 + size)))
)
NUMBERS = st.sampled_from([0, 1, 2**31, 2**40, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**70])


@st.composite
def jobspecs(draw: st.DrawFn) -> str:
    """A jobspec of a core, with anything where a text or a number may be."""
    document: dict[str, Any] = json.loads(slots(1, 1))
    system = document["attributes"]["system"]
    match draw(st.integers(0, 6)):
        case 0:
            system["queue"] = draw(TEXTS)
        case 1:
            system["duration"] = draw(NUMBERS | st.floats(0, allow_infinity=False))
        case 2:
            label = draw(TEXTS)
            document["resources"][0]["label"] = document["tasks"][0]["slot"] = label
        case 3:
            document["tasks"][0]["command"] = [draw(TEXTS)]
        case 4:
            document["attributes"]["user"] = {draw(TEXTS): draw(TEXTS | NUMBERS)}
        case 5:
            system["constraints"] = {"not": [{"properties": [draw(TEXTS)]}]}
        case _:
            document["resources"][0]["unit"] = draw(TEXTS)
    return json.dumps(document)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A call of a matcher that may change something."""
    kind = draw(st.sampled_from(["match", "pods", "update", "cancel", "finish"]))
    match kind:
        case "match":
            texts = {"name": draw(TEXTS), "key": draw(TEXTS), "user": draw(TEXTS)}
            return kind, {"jobspec": draw(jobspecs()), "now": draw(NUMBERS), **texts}
        case "pods":
            return kind, {"memory": draw(NUMBERS), "name": draw(TEXTS)}
        case "update":
            return kind, {"job": draw(NUMBERS), "at": draw(NUMBERS), "duration": draw(NUMBERS)}
    return kind, {"reason": draw(TEXTS)}


Drawn = list[tuple[str, dict[str, Any]]]


@pytest.fixture(params=["checked", "unchecked"])
def checks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without the checks of values: what they do not know of the store refuses."""
    if request.param == "unchecked":
        for module in (allocations, jobspec_cache, scheduler):
            for name in ("check_bounds", "check_names"):
                monkeypatch.setattr(module, name, lambda value, path: None, raising=False)
        monkeypatch.setattr(matcher_ops, "_LATEST", 2**80)
        for cache in (jobspec_cache._small, jobspec_cache._large):
            cache.cache_clear()


@pytest.mark.usefixtures("checks")
def test_a_value_that_the_store_refuses_fails_one_call_of_a_matcher(dsn: str) -> None:
    @examples(10)
    @given(st.lists(calls(), min_size=1, max_size=5))
    def check(drawn: Drawn) -> None:
        asyncio.run(play(dsn, drawn))

    check()


async def play(dsn: str, drawn: Drawn) -> None:
    async with a_backend(dsn) as (backend, _):
        await backend.load(a_cluster(2, 8), "jgf", "")
        await asyncio.gather(*(one(backend, kind, values) for kind, values in drawn))
        held = {view.id: view.shares for view in await backend.job_views(None)}
        assert sum(share.amounts["core"] for found in held.values() for share in found) <= 16
        after = await backend.match(a_call(slots(1, 1)))
        assert after
    async with a_backend(dsn) as (backend, _):
        restored = {view.id: view.shares for view in await backend.job_views(None)}
        assert restored.keys() == held.keys() | {after.job}
        assert all(restored[job] == held[job] for job in held)


async def one(backend: MatcherBackend, kind: str, values: dict[str, Any]) -> None:
    """One call; whether it is refused does not matter."""
    values = dict(values)
    try:
        match kind:
            case "match":
                jobspec = await read_jobspec(values.pop("jobspec"))
                await backend.match(MatchCall(jobspec, **values))
            case "pods":
                pods = EqualPods(1, 1, values["memory"])
                await backend.match(MatchCall(pods, name=values["name"]))
            case "update":
                text = (await backend.match(a_call(slots(1, 1), format="jgf"))).text
                await backend.update(AllocationUpdate(text=text, format="jgf", **values))
            case "cancel":
                job = await backend.match(a_call(slots(1, 1)))
                await backend.cancel(job.job, values["reason"])
            case "finish":
                job = await backend.match(a_call(slots(1, 1)))
                await backend.finish(job.job, True, values["reason"])
    except ServiceError:
        pass


# -- a queue -------------------------------------------------------------------------------------


@st.composite
def submissions(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A job for a queue: its jobspec, and the other fields of its submission."""
    names = st.sampled_from(["user", "namespace", "name", "reservation"])
    numbers = st.sampled_from(["walltime", "priority", "begin", "min_runtime"])
    texts = draw(st.dictionaries(names, TEXTS, max_size=2))
    return draw(jobspecs()), {**texts, **draw(st.dictionaries(numbers, NUMBERS, max_size=2))}


@pytest.mark.usefixtures("checks")
def test_a_value_that_the_store_refuses_fails_calls_of_a_queue_and_not_the_queue(dsn: str) -> None:
    @examples(10)
    @given(st.lists(submissions(), min_size=1, max_size=4), TEXTS)
    def check(drawn: Drawn, reason: str) -> None:
        asyncio.run(play_queue(dsn, drawn, reason))

    check()


async def play_queue(dsn: str, drawn: Drawn, reason: str) -> None:
    await wipe(dsn)
    async with open_store(dsn) as store:
        lease = await store.take("test")
        assert lease is not None
        mailbox, operations = Mailbox(), QueueOperations(CallerLeases())
        mailbox.attach(CallersOnly(operations))
        matcher = Matcher(read_graph(a_cluster(2, 8), "jgf"), policy="lonode")
        runner = await resume_queue(matcher, SchedulerConfig(), mailbox, store, lease.fence)
        mailbox.open(runner, lambda: None)

        async def ask(request: QueueRequest[Any]) -> Any:
            asked = asyncio.create_task(mailbox.ask(request))
            await asyncio.sleep(0)
            await runner.round()
            return await asked

        first = await ask(operations.submit(Submission(0, ONE_CORE, walltime=60), "first"))
        await ask(operations.finish(first.id, True, reason))
        for jobspec, values in drawn:
            with suppress(ServiceError):
                submission = Submission(0, await read_jobspec(jobspec), **values)
                await ask(operations.submit(submission, values.get("name", "")))
        last = await ask(operations.submit(Submission(0, ONE_CORE, walltime=60), "last"))
        known = {id: job.state for id, job in runner.scheduler.jobs.items()}
        stored = {job.id: job.state for job in await store.jobs(known)}
        assert last.id in known and stored == known


ONE_CORE = parse_jobspec(slots(1, 1))
