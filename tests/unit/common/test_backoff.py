"""Pauses grow, differ by chance, have a limit, and begin anew when all is well."""

from __future__ import annotations

import asyncio
import logging

import pytest

from fluxnetes.common.backoff import Backoff, RetryMessages, RetryTiming


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """All pauses, none of them made."""
    made: list[float] = []

    async def sleep(seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return made


async def fail(backoff: Backoff, times: int, at_least: float = 0.0) -> None:
    for _ in range(times):
        await backoff.pause("no answer", at_least)


def test_pauses_double_up_to_the_longest_and_no_two_clients_come_together(
    pauses: list[float],
) -> None:
    asyncio.run(fail(Backoff("x", RetryTiming(initial_delay=1, max_delay=8)), 6))
    for pause, longest in zip(pauses, [1, 2, 4, 8, 8, 8], strict=True):
        assert longest / 2 <= pause <= longest
    assert pauses[3] != pauses[4] != pauses[5]


def test_after_success_pauses_are_short_again(pauses: list[float]) -> None:
    backoff = Backoff("x", RetryTiming(initial_delay=1, max_delay=8))
    asyncio.run(fail(backoff, 5))
    backoff.over()
    asyncio.run(fail(backoff, 1))
    assert pauses[-1] <= 1


def test_a_server_that_names_a_time_gets_it(pauses: list[float]) -> None:
    asyncio.run(fail(Backoff("x", RetryTiming(initial_delay=1)), 1, at_least=30))
    assert pauses == [30]


def test_it_is_said_once_what_is_wrong_and_once_that_it_is_over(
    pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    backoff = Backoff("following pods", RetryTiming())
    asyncio.run(fail(backoff, 5))
    backoff.over()
    backoff.over()
    first, last = caplog.messages
    assert first == "following pods: no answer; trying again"
    assert last.startswith("following pods: works again after")


def test_without_jitter_the_pauses_are_exact(pauses: list[float]) -> None:
    timing = RetryTiming(initial_delay=1, max_delay=5, jitter=0.0)
    asyncio.run(fail(Backoff("x", timing), 4))
    assert pauses == [1, 2, 4, 5]


def test_messages_have_the_callers_text_and_go_where_it_says(
    pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    reports: list[tuple[int, str]] = []
    messages = RetryMessages("waiting for {operation}: {cause}", "{operation} is there")
    backoff = Backoff(
        "Postgres",
        RetryTiming(),
        messages=messages,
        report=lambda level, text: reports.append((level, text)),
    )
    asyncio.run(backoff.pause("no {such} host, 100% gone"))
    backoff.over()
    assert reports == [
        (logging.WARNING, "waiting for Postgres: no {such} host, 100% gone"),
        (logging.INFO, "Postgres is there"),
    ]
    assert caplog.messages == []


def test_the_same_failure_is_reported_again_only_after_a_while(
    pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(fail(Backoff("x", RetryTiming(log_interval=0.0)), 3))
    assert len(caplog.messages) == 3
