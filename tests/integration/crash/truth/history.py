"""Tells everything that happened to one workload, in order, with the faults around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.integration.crash.record import FluxJobSeen, KubeJob, LeaseSeen, Node, Pod, Seen
from tests.integration.crash.truth.workloads import WorkloadRecord
from tests.integration.crash.truth.writers import OURS, USER, Write

_BEFORE, _AFTER = 10.0, 30.0
"""Seconds before the first and after the last change that are told as well."""


@dataclass(frozen=True, slots=True)
class Line:
    """Something that happened."""

    at: float
    """Monotonic."""
    text: str


@dataclass(frozen=True)
class Surroundings:
    """What happened to all workloads alike."""

    began: float
    """Monotonic: lines are told relative to it."""
    epoch: float
    """The epoch's seconds at monotonic 0."""
    record: tuple[Seen, ...]
    faults: tuple[Line, ...] = ()
    writes: tuple[Write, ...] = ()
    stored: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    """What the store has of each workload's jobs; times are since the epoch."""


def tell(work: WorkloadRecord, around: Surroundings) -> str:
    """One line for each change."""
    own = sorted(_own_lines(work, around), key=lambda line: line.at)
    if not own:
        return "    nothing was recorded of it"
    since, until = own[0].at - _BEFORE, own[-1].at + _AFTER
    nodes = {seen.thing.node for seen in _pod_changes(work) if isinstance(seen.thing, Pod)}
    others = [*around.faults, *_surrounding_lines(around.record, nodes)]
    lines = [*own, *(line for line in others if since <= line.at <= until)]
    lines.sort(key=lambda line: line.at)
    return "\n".join(f"    {line.at - around.began:8.2f}  {line.text}" for line in lines)


def _pod_changes(work: WorkloadRecord) -> Iterator[Seen]:
    for versions in work.pods.values():
        yield from versions


def _own_lines(work: WorkloadRecord, around: Surroundings) -> Iterator[Line]:
    for versions in (work.jobs, *work.pods.values(), work.fluxjobs):
        yield from _changes(versions)
    names = {work.name}
    names |= {seen.thing.name for seen in _pod_changes(work) if isinstance(seen.thing, Pod)}
    for write in around.writes:
        if write.name in names:
            yield Line(write.at - around.epoch, _written(write))
    for line in around.stored.get(work.name, ()):
        yield Line(line.at - around.epoch, line.text)


def _changes(versions: Iterable[Seen]) -> Iterator[Line]:
    before = ""
    for seen in versions:
        text = _told(seen)
        if text != before:
            yield Line(seen.at, text)
        before = text


def _told(seen: Seen) -> str:
    thing = seen.thing
    match thing:
        case Pod():
            marks = [thing.phase, thing.reason, f"on {thing.node}" if thing.node else "no node"]
            marks += [f"job {thing.job}"] if thing.job else []
            marks += ["deleting"] if thing.is_deleting else []
            marks += ["GONE"] if thing.is_gone else []
            marks += [repr(thing.told)] if thing.told and not thing.node else []
            return f"pod {thing.name}: {', '.join(filter(None, marks))}"
        case KubeJob():
            counts = f"succeeded {thing.succeeded}, failed {thing.failed}"
            marks = [counts, thing.end, thing.reason]
            marks += ["suspended"] if thing.suspended else []
            marks += ["queued by us"] if thing.is_queued else []
            marks += [f"user's action {thing.stamp}"] if thing.stamp else []
            marks += ["deleting"] if thing.is_deleting else []
            marks += ["GONE"] if thing.is_gone else []
            return f"Job {thing.name}: {', '.join(filter(None, marks))}"
        case FluxJobSeen():
            gone = ", GONE" if thing.is_gone else ""
            words = f"{thing.state} ({thing.code}: {thing.reason})"
            return f"FluxJob {thing.name}: job {thing.job} {words}{gone}"
        case LeaseSeen():
            return f"--- leader: {thing.holder or 'none'}"
        case Node():
            marks = ["GONE"] if thing.is_gone else ["cordoned"] if thing.is_closed else ["there"]
            return f"--- node {thing.name}: {marks[0]}"


def _written(write: Write) -> str:
    who = {USER: "user", OURS: "fluxnetes"}.get(write.client, write.client.rpartition(":")[2])
    answer = write.code or "no answer"
    return f"  {who}: {write.verb} {write.resource} {write.name} -> {answer}"


def _surrounding_lines(record: Iterable[Seen], nodes: set[str]) -> Iterator[Line]:
    """Changes of the leader, and of the nodes that the workload used."""
    before: dict[str, str] = {}
    for seen in record:
        thing = seen.thing
        if isinstance(thing, LeaseSeen) or (isinstance(thing, Node) and thing.name in nodes):
            key = thing.name if isinstance(thing, Node) else "lease"
            text = _told(seen)
            if before.get(key) != text:
                yield Line(seen.at, text)
            before[key] = text
