"""The change log: which keys changed since a revision, and how long that is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.service.changelog import ChangeLog
from tests.property.profile import examples

KEPT = 4

_notes = st.lists(st.sampled_from("abcdefg"), max_size=4)
_steps = st.lists(st.one_of(_notes, st.just("reset")), max_size=25)


@given(_steps)
@examples(300)
def test_a_watcher_gets_all_changes_since_a_revision_or_that_it_is_too_old(
    steps: list[list[str] | str],
) -> None:
    """Against a list of all changes."""
    changelog = ChangeLog(KEPT)
    history: list[set[str] | None] = [None]  # by revision; None: everything is another
    for step in steps:
        if isinstance(step, str):
            changelog.reset()
            history.append(None)
        else:
            changelog.note(step)
            history.append(set(step))
    assert changelog.revision == len(history) - 1
    last_reset = max(n for n, what in enumerate(history) if what is None)
    for revision in range(-1, len(history) + 2):
        reported = changelog.since(revision)
        after = history[revision + 1 :] if revision >= 0 else history
        known = revision >= last_reset and revision < len(history)
        changed = set().union(*(what for what in after if what)) if known else set()
        if reported is None:
            assert not known or len(changed) >= KEPT, "it could have been reported"
        else:
            assert known
            assert set(reported) == changed
            assert len(reported) == len(changed)


@given(_steps)
@examples(100)
def test_keys_come_in_the_order_of_their_last_change(steps: list[list[str] | str]) -> None:
    changelog = ChangeLog()
    when: dict[str, int] = {}
    for number, step in enumerate(steps):
        if not isinstance(step, str):
            changelog.note(step)
            when |= dict.fromkeys(step, number)
    reported = changelog.since(0)
    assert reported is not None
    assert [when[key] for key in reported] == sorted(when.values())


async def test_a_waiting_watcher_wakes_up_at_a_change() -> None:
    changelog = ChangeLog()
    changes: list[Callable[[], None]] = [
        lambda: changelog.note(["a"]),
        changelog.reset,
        lambda: changelog.note([]),
    ]
    for change in changes:
        waiting = asyncio.create_task(changelog.beyond(changelog.revision, 10))
        await asyncio.sleep(0)
        assert not waiting.done()
        change()
        assert await waiting


async def test_a_watcher_that_is_behind_does_not_wait() -> None:
    changelog = ChangeLog()
    changelog.note(["a"])
    assert await changelog.beyond(0, 10)


async def test_waiting_ends_after_the_timeout() -> None:
    changelog = ChangeLog()
    assert not await changelog.beyond(0, 0.01)


async def test_many_watchers_may_wait() -> None:
    changelog = ChangeLog()
    waiting = [asyncio.create_task(changelog.beyond(0, 10)) for _ in range(100)]
    await asyncio.sleep(0)
    changelog.note(["a"])
    assert all(await asyncio.gather(*waiting))


@given(st.integers(0, 10**15))
@examples(50)
def test_a_position_can_be_kept_and_read_again(revision: int) -> None:
    changelog = ChangeLog()
    assert changelog.read(changelog.place(revision)) == revision


@pytest.mark.parametrize(
    "place", ["", "-", "1", "x-1", "{name}", "{name}-", "{name}--1", "{name}-1x", "{name}-²"]
)
def test_a_position_that_is_not_of_this_log_is_too_old(place: str) -> None:
    changelog = ChangeLog()
    name = changelog.place(0).rpartition("-")[0]
    assert changelog.read(place.format(name=name)) == -1
    assert changelog.since(-1) is None


def test_a_position_from_before_a_restart_is_not_of_this_log() -> None:
    assert ChangeLog().read(ChangeLog().place(3)) == -1
