"""Requests are accepted in order, answered when they are committed, and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from functools import wraps
from typing import Any

import pytest

from fluxnetes.service.mailbox import (
    Mailbox,
    MailboxClosed,
    NoListener,
    QueueHost,
    QueueRequest,
    looking,
)
from tests.unit.service.manual_queue import a_manual_queue

Test = Callable[[], Coroutine[Any, Any, None]]


def awaited(test: Test) -> Callable[[], None]:
    """A test that runs in an event loop of its own."""

    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


class Term:
    """An open mailbox of a real queue; and what happened, in order."""

    def __init__(self) -> None:
        self.mailbox = Mailbox()
        self.queue_host: QueueHost = a_manual_queue().runner
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
            lambda queue_host: self.story.append(f"{name} accepted"),
            answer,
            lambda queue_host: self.story.append(f"{name} settled"),
            undone if undo else None,
        )

    async def ask(self, request: QueueRequest[str]) -> asyncio.Task[str]:
        asked = asyncio.create_task(self.mailbox.ask(request))
        await asyncio.sleep(0)
        return asked

    def round(self) -> None:
        self.mailbox.accept()
        self.mailbox.settle()
        self.story.append("committed")
        self.mailbox.reply()


@awaited
async def test_all_are_accepted_in_order_then_settled_then_committed_then_answered() -> None:
    term = Term()
    asked = [await term.ask(term.request(name)) for name in ("a", "b")]
    term.round()
    assert [await each for each in asked] == ["a", "b"]
    assert term.story == [
        *("a accepted", "b accepted"),
        *("a settled", "b settled"),
        "committed",
        *("a answered", "b answered"),
    ]


@awaited
async def test_asking_wakes_the_loop_of_the_queue() -> None:
    term = Term()
    await term.ask(term.request("a"))
    assert term.wakes == 1


@awaited
async def test_a_request_during_a_round_is_accepted_in_the_next() -> None:
    term = Term()
    first = await term.ask(term.request("a"))
    term.mailbox.accept()
    second = await term.ask(term.request("b"))
    term.mailbox.settle()
    term.mailbox.reply()
    await first
    assert "b accepted" not in term.story and not second.done()
    term.round()
    assert await second == "b"


@awaited
async def test_a_request_that_is_refused_when_applied_is_neither_settled_nor_answered() -> None:
    term = Term()

    def refuse(queue_host: QueueHost) -> None:
        raise ValueError("no")

    refused = term.request("a")
    refused.apply = refuse
    asked, other = await term.ask(refused), await term.ask(term.request("b"))
    term.round()
    with pytest.raises(ValueError, match="no"):
        await asked
    assert await other == "b"
    assert not any(each.startswith("a ") for each in term.story)


@pytest.mark.parametrize("where", ["settle", "answer"])
def test_a_request_that_fails_later_fails_for_its_caller_alone(where: str) -> None:
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


# -- terms ---------------------------------------------------------------------------------------


@awaited
async def test_between_terms_requests_are_refused() -> None:
    with pytest.raises(MailboxClosed):
        await Mailbox().ask(looking(lambda queue_host: 1))


@awaited
async def test_when_a_term_ends_all_waiting_requests_are_refused() -> None:
    term = Term()
    accepted = await term.ask(term.request("a"))
    term.mailbox.accept()
    waiting = await term.ask(term.request("b"))
    term.mailbox.close()
    for each in (accepted, waiting):
        with pytest.raises(MailboxClosed):
            await each
    with pytest.raises(MailboxClosed):
        await term.mailbox.ask(term.request("c"))
    assert term.story == ["a accepted"]


@awaited
async def test_the_next_term_does_not_answer_requests_of_the_one_before() -> None:
    term = Term()
    asked = await term.ask(term.request("a"))
    term.mailbox.accept()
    term.mailbox.close()
    term.open()
    term.round()
    assert term.story == ["a accepted", "committed"]
    with pytest.raises(MailboxClosed):
        await asked


class Recorder(NoListener):
    """Records what a mailbox passes on."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def opened(self, queue_host: QueueHost) -> None:
        self.calls.append("opened")

    def closed(self) -> None:
        self.calls.append("closed")

    def tend(self, queue_host: QueueHost) -> None:
        self.calls.append("tended")

    def nodes_changed(self, names: Iterable[str]) -> None:
        self.calls.append(" ".join(names))


@awaited
async def test_a_listener_follows_terms_rounds_and_nodes() -> None:
    listener = Recorder()
    mailbox = Mailbox(listener)
    queue_host: QueueHost = a_manual_queue().runner
    mailbox.accept()
    mailbox.open(queue_host, lambda: None)
    mailbox.accept()
    mailbox.nodes_changed(["n1", "n2"])
    mailbox.close()
    mailbox.accept()
    assert listener.calls == ["opened", "tended", "n1 n2", "closed"]


@awaited
async def test_a_listener_is_attached_before_the_first_term_or_not_at_all() -> None:
    mailbox, listener = Mailbox(), Recorder()
    mailbox.attach(listener)
    mailbox.open(a_manual_queue().runner, lambda: None)
    with pytest.raises(RuntimeError):
        mailbox.attach(Recorder())
    assert listener.calls == ["opened"]


# -- callers that leave --------------------------------------------------------------------------


@awaited
async def test_a_request_that_is_given_up_before_it_is_accepted_is_dropped() -> None:
    term = Term()
    asked = await term.ask(term.request("a", undo=True))
    asked.cancel()
    await asyncio.sleep(0)
    term.round()
    assert term.story == ["committed"]


@awaited
async def test_so_is_one_that_is_given_up_from_another_thread() -> None:
    term = Term()
    request = term.request("a", undo=True)
    asked = await term.ask(request)
    request.given_up = True
    term.round()
    assert term.story == ["committed"]
    with pytest.raises(asyncio.CancelledError):
        await asked


@awaited
async def test_a_request_that_is_given_up_after_it_was_accepted_is_undone() -> None:
    term = Term()
    asked = await term.ask(term.request("a", undo=True))
    term.mailbox.accept()
    asked.cancel()
    await asyncio.sleep(0)
    term.mailbox.settle()
    term.mailbox.reply()
    assert term.story[-2:] == ["a answered", "a undone"]


@awaited
async def test_a_request_that_is_given_up_at_the_moment_of_its_answer_is_undone() -> None:
    term = Term()
    asked = await term.ask(term.request("a", undo=True))
    term.round()
    asked.cancel()  # answered, but not read yet
    wakes = term.wakes
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert term.story[-2:] == ["a answered", "a undone"]
    assert term.wakes == wakes + 1  # the undo must be committed, too


@awaited
async def test_a_request_without_undo_stays() -> None:
    term = Term()
    asked = await term.ask(term.request("a"))
    term.mailbox.accept()
    asked.cancel()
    await asyncio.sleep(0)
    term.mailbox.reply()
    assert term.story == ["a accepted", "a answered"]


@awaited
async def test_an_error_without_a_caller_is_dropped() -> None:
    term = Term()

    def fail(queue_host: QueueHost) -> str:
        raise ValueError("no")

    asked, other = await term.ask(looking(fail)), await term.ask(term.request("b"))
    term.mailbox.accept()
    asked.cancel()
    await asyncio.sleep(0)
    term.mailbox.reply()
    assert await other == "b"


@awaited
async def test_after_the_term_nothing_is_undone() -> None:
    """The job stays until its lease expires under the next term."""
    term = Term()
    request = term.request("a", undo=True)
    term.mailbox.close()
    term.mailbox.undo(request, "a")
    assert term.story == []
