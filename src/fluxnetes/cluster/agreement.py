"""Finds members of a group that disagree about the group as a whole.

The pods and workloads of a named group come from several manifests, and each may say in which queue
the group waits, how long it may run, and how many must start together. A member that says nothing
agrees with the others. Where two say different things, either would surprise the user of the other,
so nothing starts, and both are named.
"""

from __future__ import annotations

from collections.abc import Callable

from fluxnetes.cluster.groups import LABELLED, WorkloadGroup
from fluxnetes.cluster.labels.names import MIN_SIZE, QUEUE, WALLTIME, size_key
from fluxnetes.cluster.labels.parse import WorkloadLabels
from fluxnetes.common.reasons import Message, Reason

_READ: tuple[tuple[Callable[[WorkloadLabels], str], Callable[[WorkloadLabels], object]], ...] = (
    (lambda options: QUEUE, lambda options: options.queue),
    (lambda options: WALLTIME, lambda options: _seconds(options.walltime)),
    (lambda options: size_key(options.dialect), lambda options: options.size),
    (lambda options: MIN_SIZE, lambda options: options.min_size),
)
"""What members have to agree about: its key, and what a member says of it (None: nothing)."""


def disagreement(group: WorkloadGroup) -> Reason | None:
    """What members of a group disagree about, and which; None: they agree."""
    if len(group.said) < 2 or group.key.kind != LABELLED:
        return None
    for key, value in _READ:
        first: tuple[str, object] | None = None
        for name, options in group.speakers():
            said = value(options)
            if said is None:
                continue
            if first is None:
                first = (name, said)
            elif said != first[1]:
                return _reason(group, key(options), first, (name, said))
    return None


def _reason(
    group: WorkloadGroup, key: str, one: tuple[str, object], other: tuple[str, object]
) -> Reason:
    return Reason.of(
        Message.MEMBERS_DISAGREE,
        group=str(group.key),
        key=key,
        one=f"{one[0]} says {one[1]}",
        other=f"{other[0]} says {other[1]}",
    )


def _seconds(walltime: int | None) -> str | None:
    return None if walltime is None else f"{walltime} s"
