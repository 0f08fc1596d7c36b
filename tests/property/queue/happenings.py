"""What happens besides jobs that come: drawn before it is known when, and to whom."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from fluxnetes.jobspec.constraint import Hostlist
from fluxnetes.queue.events import (
    Alter,
    Cancel,
    Event,
    Grow,
    Hold,
    Maintain,
    NodesBack,
    NodesClosed,
    NodesLost,
    NodesOpened,
    Occupied,
    Release,
    RemoveWindow,
    Reseat,
    Reserve,
    Reshape,
    TaskEnded,
    TasksEnded,
)
from fluxnetes.queue.jobs import Request

Move = Callable[[int, list[int]], Event]
"""What happens, once it is known when, and which jobs there are by then."""

hosts = st.frozensets(st.sampled_from(["n0", "n1", "n2", "n3"]), min_size=1, max_size=2)
windows = st.sampled_from(["w1", "w2"])
spans = st.tuples(st.integers(0, 12), st.integers(1, 6))
"""How long until something begins, and how long it lasts."""


def to_some_job(kind: Callable[[int], Event]) -> st.SearchStrategy[Move]:
    """It happens to one of those that came last: most of the others have ended."""
    return st.integers(1, 7).map(
        lambda back: lambda now, jobs: kind(jobs[-min(back, len(jobs))] if jobs else 1)
    )


def _alter(walltime: int) -> Callable[[int], Event]:
    return lambda job: Alter(job, walltime=walltime)


def _task_ended(task: int, ok: bool) -> Callable[[int], Event]:
    return lambda job: TaskEnded(job, task, ok)


def _tasks_ended(tasks: frozenset[int], failed: frozenset[int]) -> Callable[[int], Event]:
    return lambda job: TasksEnded(job, tuple(tasks), failed)


def _reseat(tasks: frozenset[int]) -> Callable[[int], Event]:
    return lambda job: Reseat(job, tuple(tasks))


def _reshape(request: Request) -> Callable[[int], Event]:
    return lambda job: Reshape(job, request)


def _maintain(name: str, span: tuple[int, int], nodes: frozenset[str]) -> Move:
    wait, length = span
    return lambda now, jobs: Maintain(name, now + wait, now + wait + length, Hostlist(nodes))


def _reserve(name: str, span: tuple[int, int], count: int) -> Move:
    wait, length = span
    for_whom = frozenset({"ada"})
    return lambda now, jobs: Reserve(name, now + wait, now + wait + length, count, users=for_whom)


def _occupied(nodes: frozenset[str], cpu: int, memory: int) -> Move:
    held = {"cpu": cpu, "memory": memory}
    return lambda now, jobs: Occupied(dict.fromkeys(sorted(nodes), held))


CALM = to_some_job(Cancel) | to_some_job(Hold)
ROUGH = (
    CALM
    | to_some_job(Release)
    | st.integers(1, 12).flatmap(lambda walltime: to_some_job(_alter(walltime)))
    | hosts.map(lambda nodes: lambda now, jobs: NodesLost(tuple(sorted(nodes))))
    | hosts.map(lambda nodes: lambda now, jobs: NodesBack(tuple(sorted(nodes))))
    | hosts.map(lambda nodes: lambda now, jobs: NodesClosed(tuple(sorted(nodes))))
    | hosts.map(lambda nodes: lambda now, jobs: NodesOpened(tuple(sorted(nodes))))
    | st.builds(_occupied, hosts, st.integers(0, 4), st.integers(0, 6))
    | st.builds(_maintain, windows, spans, hosts)
    | st.builds(_reserve, windows, spans, st.integers(1, 2))
    | windows.map(lambda name: lambda now, jobs: RemoveWindow(name))
)
_tasks = st.frozensets(st.integers(0, 3), max_size=3)
_task = st.builds(_task_ended, st.integers(0, 3), st.booleans()).flatmap(to_some_job)
_several = st.builds(_tasks_ended, _tasks, _tasks).flatmap(to_some_job)
_moved = st.builds(_reseat, _tasks).flatmap(to_some_job)
_grown = to_some_job(Grow)


def wild(requests: st.SearchStrategy[Request]) -> st.SearchStrategy[Move]:
    """All of it; jobs that wait may come to ask for any of these."""
    reshaped = st.builds(_reshape, requests).flatmap(to_some_job)
    return ROUGH | _grown | _grown | _task | _several | _moved | _moved | reshaped
