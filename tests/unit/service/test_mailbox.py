"""What callers ask of a queue is heard in order, answered when it is written, and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from fluxnetes.service.mailbox import (
    Deferred,
    Mailbox,
    MailboxClosed,
    QueueHost,
    QueueRequest,
    looking,
)
from tests.unit.service.counters import a_counter

Test = Callable[[], Coroutine[Any, Any, None]]


def awaited(test: Test) -> Callable[[], None]:
    """A test that is run in a loop of its own."""

    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


class Term:
    """Petitions that are open, to a real queue; and what happened, in order."""

    def __init__(self) -> None:
        self.mailbox = Mailbox()
        self.queue_host: QueueHost = a_counter().queue
        self.story: list[str] = []
        self.wakes = 0
        self.open()

    def open(self) -> None:
        self.mailbox.open(self.queue_host, self._wake)

    def _wake(self) -> None:
        self.wakes += 1

    def request(self, name: str, undo: bool = False) -> QueueRequest[str]:
        def answer(queue_host: QueueHost) -> str:
            assert queue_host is self.queue_host
            self.story.append(f"{name} answered")
            return name

        def undone(queue_host: QueueHost, result: str) -> None:
            self.story.append(f"{result} undone")

        return QueueRequest(
            lambda queue_host: self.story.append(f"{name} heard"),
            answer,
            lambda queue_host: self.story.append(f"{name} settled"),
            undone if undo else None,
        )

    async def ask(self, request: QueueRequest[str]) -> asyncio.Task[str]:
        asked = asyncio.create_task(self.mailbox.ask(request))
        await asyncio.sleep(0)
        return asked

    def round(self) -> None:
        self.mailbox.hear()
        self.mailbox.settle()
        self.story.append("written")
        self.mailbox.reply()


@awaited
async def test_all_are_heard_in_order_then_settled_then_written_then_answered() -> None:
    term = Term()
    asked = [await term.ask(term.request(name)) for name in ("a", "b")]
    term.round()
    assert [await each for each in asked] == ["a", "b"]
    assert term.story == [
        *("a heard", "b heard"),
        *("a settled", "b settled"),
        "written",
        *("a answered", "b answered"),
    ]


@awaited
async def test_asking_wakes_whoever_runs_the_queue() -> None:
    term = Term()
    await term.ask(term.request("a"))
    assert term.wakes == 1


@awaited
async def test_what_comes_during_a_round_is_heard_in_the_next() -> None:
    term = Term()
    first = await term.ask(term.request("a"))
    term.mailbox.hear()
    second = await term.ask(term.request("b"))
    term.mailbox.settle()
    term.mailbox.reply()
    await first
    assert "b heard" not in term.story and not second.done()
    term.round()
    assert await second == "b"


@awaited
async def test_what_is_refused_when_it_is_handed_in_is_not_settled_nor_answered() -> None:
    term = Term()

    def refuse(queue_host: QueueHost) -> None:
        raise ValueError("no")

    refused = term.request("a")
    refused.hand_in = refuse
    asked, other = await term.ask(refused), await term.ask(term.request("b"))
    term.round()
    with pytest.raises(ValueError, match="no"):
        await asked
    assert await other == "b"
    assert not any(each.startswith("a ") for each in term.story)


@pytest.mark.parametrize("where", ["settle", "answer"])
def test_what_fails_later_fails_for_whoever_asked_and_for_nobody_else(where: str) -> None:
    @awaited
    async def play() -> None:
        term = Term()

        def fail(queue_host: QueueHost) -> str:
            raise ValueError("no")

        broken = term.request("a")
        setattr(broken, where, fail)
        asked, other = await term.ask(broken), await term.ask(term.request("b"))
        term.round()
        with pytest.raises(ValueError, match="no"):
            await asked
        assert await other == "b"
        assert "a answered" not in term.story

    play()


@awaited
async def test_an_answer_that_must_wait_comes_in_a_later_round() -> None:
    term = Term()
    rounds = iter([False, False, True])

    def answer(queue_host: QueueHost) -> str:
        if not next(rounds):
            raise Deferred
        return "at last"

    asked, other = await term.ask(looking(answer)), await term.ask(term.request("b"))
    term.round()
    assert await other == "b"
    term.round()
    await asyncio.sleep(0)
    assert not asked.done()
    term.round()
    assert await asked == "at last"
    assert term.story.count("b heard") == 1


# -- terms ---------------------------------------------------------------------------------------


@awaited
async def test_nobody_is_asked_where_nobody_leads() -> None:
    with pytest.raises(MailboxClosed):
        await Mailbox().ask(looking(lambda queue_host: 1))


@awaited
async def test_when_a_term_ends_all_who_wait_are_told() -> None:
    term = Term()
    heard = await term.ask(term.request("a"))
    term.mailbox.hear()
    unheard = await term.ask(term.request("b"))
    term.mailbox.close()
    for each in (heard, unheard):
        with pytest.raises(MailboxClosed):
            await each
    with pytest.raises(MailboxClosed):
        await term.mailbox.ask(term.request("c"))
    assert term.story == ["a heard"]


@awaited
async def test_the_next_term_does_not_answer_what_the_one_before_was_asked() -> None:
    term = Term()
    asked = await term.ask(term.request("a"))
    term.mailbox.hear()
    term.mailbox.close()
    term.open()
    term.round()
    assert term.story == ["a heard", "written"]
    with pytest.raises(MailboxClosed):
        await asked


@awaited
async def test_whoever_cares_hears_when_terms_begin_and_end_and_of_every_round() -> None:
    said: list[str] = []
    mailbox = Mailbox(
        tend=lambda queue_host: said.append("tended"),
        opened=lambda queue_host: said.append("opened"),
        closed=lambda: said.append("closed"),
    )
    queue_host: QueueHost = a_counter().queue
    mailbox.hear()
    mailbox.open(queue_host, lambda: None)
    mailbox.hear()
    mailbox.close()
    mailbox.hear()
    assert said == ["opened", "tended", "closed"]


# -- those who go away ---------------------------------------------------------------------------


@awaited
async def test_what_is_given_up_before_it_is_heard_is_not_heard() -> None:
    term = Term()
    asked = await term.ask(term.request("a", undo=True))
    asked.cancel()
    await asyncio.sleep(0)
    term.round()
    assert term.story == ["written"]


@awaited
async def test_what_is_given_up_from_another_thread_is_not_heard_either() -> None:
    term = Term()
    request = term.request("a", undo=True)
    asked = await term.ask(request)
    request.given_up = True
    term.round()
    assert term.story == ["written"]
    with pytest.raises(asyncio.CancelledError):
        await asked


@awaited
async def test_what_is_given_up_when_it_was_heard_is_undone() -> None:
    term = Term()
    asked = await term.ask(term.request("a", undo=True))
    term.mailbox.hear()
    asked.cancel()
    await asyncio.sleep(0)
    term.mailbox.settle()
    term.mailbox.reply()
    assert term.story[-2:] == ["a answered", "a undone"]


@awaited
async def test_what_is_given_up_in_the_moment_of_its_answer_is_undone() -> None:
    term = Term()
    asked = await term.ask(term.request("a", undo=True))
    term.round()
    asked.cancel()  # it has its answer, but has not looked yet
    wakes = term.wakes
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert term.story[-2:] == ["a answered", "a undone"]
    assert term.wakes == wakes + 1  # that must be written, too


@awaited
async def test_what_cannot_be_undone_stays() -> None:
    term = Term()
    asked = await term.ask(term.request("a"))
    term.mailbox.hear()
    asked.cancel()
    await asyncio.sleep(0)
    term.mailbox.reply()
    assert term.story == ["a heard", "a answered"]


@awaited
async def test_an_error_that_nobody_waits_for_is_nobodys() -> None:
    term = Term()

    def fail(queue_host: QueueHost) -> str:
        raise ValueError("no")

    asked, other = await term.ask(looking(fail)), await term.ask(term.request("b"))
    term.mailbox.hear()
    asked.cancel()
    await asyncio.sleep(0)
    term.mailbox.reply()
    assert await other == "b"


@awaited
async def test_after_the_term_nothing_is_undone_any_more() -> None:
    """The next one finds it, and that nobody wants it."""
    term = Term()
    request = term.request("a", undo=True)
    term.mailbox.close()
    term.mailbox.undo(request, "a")
    assert term.story == []
