"""Whatever happens to a connection, what we know becomes what the server has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

from fluxnetes.common.backoff import RetryTiming
from fluxnetes.kube.cache import ObjectChange
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.podgroups import POD_GROUPS
from fluxnetes.kube.objects.pods import PODS
from tests.integration.kube.faults import (
    QUICK,
    Answer,
    Faulty,
    break_off,
    connect,
    listed,
    refuse,
    say,
    tell,
)
from tests.unit.kube.objects import a_pod, as_line, as_page, bookmark

TOO_OLD = as_line("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "old"})


class Story:
    """What an informer tells, one change after the other."""

    def __init__(self, informer: Informer[Any], server: Faulty) -> None:
        self.informer = informer
        self.server = server
        self._batches = informer.changes()
        self._next: list[str] = []

    async def batch(self) -> list[str]:
        """The next batch, in words."""
        async with asyncio.timeout(10):
            return [words(change) for change in await anext(self._batches)]

    async def change(self) -> str:
        """The next change, in words."""
        while not self._next:
            self._next = await self.batch()
        return self._next.pop(0)

    async def close(self) -> None:
        await self._batches.aclose()

    def names(self) -> list[str]:
        return sorted(name for _, name in self.informer.objects)


def words(change: ObjectChange[Any]) -> str:
    metadata = change.object.metadata
    return f"{change.kind.value} {metadata.name} {metadata.resource_version}"


@asynccontextmanager
async def following(*script: Answer, timing: RetryTiming = QUICK) -> AsyncIterator[Story]:
    """An informer of pods on a server with this script."""
    async with connect(*script) as (client, server):
        story = Story(Informer(client, PODS, timing=timing), server)
        try:
            yield story
        finally:
            await story.close()


async def test_the_first_batch_is_all_there_is() -> None:
    async with following(listed(a_pod("a", 1), a_pod("b", 2), version=3)) as story:
        assert not story.informer.is_complete
        assert await story.batch() == ["added a 1", "added b 2"]
        assert story.informer.is_complete


async def test_the_first_batch_comes_even_if_there_is_nothing() -> None:
    async with following(listed(version=3)) as story:
        assert await story.batch() == []
        assert story.informer.is_complete


async def test_a_watch_goes_on_where_the_list_ended() -> None:
    lines = as_line("ADDED", a_pod("b", 4)) + as_line("DELETED", a_pod("a", 5))
    async with following(listed(a_pod("a", 1), version=3), tell(lines)) as story:
        await story.batch()
        assert await story.batch() == ["added b 4", "deleted a 5"], "in one batch"
        assert story.names() == ["b"]
        assert story.server.versions() == ["list", "3"]
        assert story.server.asked[1].query["allowWatchBookmarks"] == "true"


async def test_a_broken_watch_is_resumed_at_the_last_version_it_reported() -> None:
    async with following(
        listed(version=3),
        tell(as_line("ADDED", a_pod("a", 7)), then="break"),
        tell(as_line("MODIFIED", a_pod("a", 8)), then="end"),
        tell(as_line("MODIFIED", a_pod("a", 9))),
    ) as story:
        await story.batch()
        assert [await story.change() for _ in range(3)] == [
            "added a 7",
            "changed a 8",
            "changed a 9",
        ]
        assert story.server.versions() == ["list", "3", "7", "8"]


async def test_a_bookmark_moves_the_version_to_resume_at() -> None:
    async with following(
        listed(a_pod("a", 1), version=3),
        tell(bookmark(40), then="end"),
        tell(as_line("MODIFIED", a_pod("a", 41))),
    ) as story:
        await story.batch()
        assert await story.change() == "changed a 41"
        assert story.server.versions() == ["list", "3", "40"]


async def test_a_line_that_was_cut_is_neither_lost_nor_reported_twice() -> None:
    first, second = as_line("ADDED", a_pod("a", 4)), as_line("ADDED", a_pod("b", 5))
    for then in ("break", "end"):
        async with following(
            listed(version=3),
            tell(first + second[:40], then=then),
            tell(second[:7], second[7:]),
        ) as story:
            assert await story.batch() == []
            assert [await story.change(), await story.change()] == ["added a 4", "added b 5"]
            assert story.server.versions() == ["list", "3", "4"]


async def test_an_object_of_a_megabyte_is_taken_however_it_is_cut() -> None:
    big = a_pod("a", 4)
    big["metadata"]["annotations"] = {"x": "y" * 2**20}
    line = as_line("ADDED", big)
    pieces = [line[start : start + 50_000] for start in range(0, len(line), 50_000)]
    async with following(listed(version=3), tell(*pieces)) as story:
        await story.batch()
        assert await story.change() == "added a 4"


async def test_when_history_is_gone_all_is_listed_and_only_the_differences_are_reported() -> None:
    for gone in (refuse(410, "Expired"), tell(TOO_OLD)):
        async with following(
            listed(a_pod("a", 1), a_pod("b", 2), a_pod("c", 3), version=3),
            gone,
            listed(a_pod("a", 1), a_pod("b", 8, uid="another"), a_pod("d", 9), version=9),
            tell(as_line("DELETED", a_pod("d", 10))),
        ) as story:
            await story.batch()
            assert await story.batch() == ["deleted c 3", "deleted b 2", "added b 8", "added d 9"]
            assert await story.change() == "deleted d 10"
            assert story.server.versions() == ["list", "3", "list", "9"]


async def test_a_second_list_without_differences_is_no_batch() -> None:
    async with following(
        listed(a_pod("a", 1), version=3),
        refuse(410, "Expired"),
        listed(a_pod("a", 1), version=9),
        tell(as_line("MODIFIED", a_pod("a", 10))),
    ) as story:
        await story.batch()
        assert await story.batch() == ["changed a 10"]


async def test_any_other_refusal_of_a_watch_leads_to_a_list() -> None:
    async with following(
        listed(version=3),
        refuse(504, "Timeout"),
        listed(a_pod("a", 1), version=2),
        refuse(403, "Forbidden"),
        listed(a_pod("a", 2), version=4),
    ) as story:
        await story.batch()
        assert [await story.change(), await story.change()] == ["added a 1", "changed a 2"]


async def test_a_busy_server_is_left_alone_and_resumed() -> None:
    async with following(
        listed(version=3),
        refuse(429, "TooManyRequests", Retry_After="0"),
        tell(as_line("ADDED", a_pod("a", 4))),
    ) as story:
        await story.batch()
        assert await story.change() == "added a 4"
        assert story.server.versions() == ["list", "3", "3"]


async def test_a_watch_that_falls_silent_is_given_up_and_resumed() -> None:
    timing = replace(QUICK, idle_timeout=0.2)
    async with following(
        listed(version=3),
        tell(as_line("ADDED", a_pod("a", 4)), then="hang"),
        tell(as_line("ADDED", a_pod("b", 5)), then="hang"),
        timing=timing,
    ) as story:
        await story.batch()
        assert [await story.change(), await story.change()] == ["added a 4", "added b 5"]
        assert story.server.versions()[:3] == ["list", "3", "4"]


async def test_a_server_that_breaks_every_list_is_asked_until_it_answers() -> None:
    async with following(
        break_off, break_off, refuse(500), refuse(404), listed(a_pod("a", 1), version=3)
    ) as story:
        assert await story.batch() == ["added a 1"]


async def test_a_problem_is_reported_while_it_lasts_and_no_longer() -> None:
    async with following(
        listed(version=3),
        refuse(403, "Forbidden"),
        listed(a_pod("a", 4), version=4),
        tell(as_line("ADDED", a_pod("b", 5))),
    ) as story:
        await story.batch()
        assert story.informer.problem is None
        assert await story.change() == "added a 4"
        assert "said Forbidden (403)" in (story.informer.problem or "")
        assert await story.change() == "added b 5"
        assert story.informer.problem is None


async def test_pages_come_out_one_by_one_and_are_complete_with_the_last() -> None:
    async with following(
        listed(a_pod("a", 1), version=3, more="next"), listed(a_pod("b", 2), version=3)
    ) as story:
        assert await story.batch() == ["added a 1"]
        assert not story.informer.is_complete
        assert await story.batch() == ["added b 2"]
        assert story.informer.is_complete
        assert [asked.query.get("continue") for asked in story.server.asked] == [None, "next"]


async def test_what_went_while_a_list_broke_off_comes_out_as_gone() -> None:
    async with following(
        listed(a_pod("a", 1), version=3, more="next"),
        listed(a_pod("b", 2), version=3, more="last"),
        break_off,
        listed(a_pod("b", 2), version=4),
    ) as story:
        assert await story.batch() == ["added a 1"]
        assert await story.batch() == ["deleted a 1", "added b 2"]
        assert story.informer.is_complete


async def test_a_list_that_takes_too_long_is_asked_for_in_one_piece() -> None:
    async with following(
        listed(a_pod("a", 1), version=3, more="next"),
        refuse(410, "Expired"),
        listed(a_pod("a", 5), a_pod("b", 6), version=6),
    ) as story:
        assert await story.batch() == ["added a 5", "added b 6"]
        assert story.server.asked[2].query["limit"] == "0"


async def test_an_object_that_cannot_be_read_hides_no_other() -> None:
    def group(name: str, size: object, version: int) -> dict[str, object]:
        metadata = {"name": name, "uid": name, "resourceVersion": str(version)}
        return {"metadata": metadata, "spec": {"minMember": size}}

    page = as_page(group("good", 2, 1), group("bad", "two", 2), version=3)
    lines = as_line("MODIFIED", group("good", "x", 4)) + as_line("MODIFIED", group("bad", 2, 5))
    async with connect(say(page), tell(lines)) as (client, _):
        informer = Informer(client, POD_GROUPS, timing=QUICK)
        async with aclosing(informer.changes()) as batches, asyncio.timeout(10):
            reported = [[(c.kind.value, c.object.metadata.name) for c in await anext(batches)]]
            reported += [[(c.kind.value, c.object.metadata.name) for c in await anext(batches)]]
    assert reported == [[("added", "good")], [("deleted", "good"), ("added", "bad")]]
