"""What a FluxJob says: from what we know of a group to the object that users read.

A `FluxJobView` is all that is to be said at one moment. `spec`, `status` and `name` turn it into
the parts of a FluxJob. Nothing here talks to a server; `records` does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from fluxnetes.kube.objects.base import Condition, Owner
from fluxnetes.kube.objects.fluxjobs import Columns, FluxJobSpec, FluxJobStatus, Wrapped
from fluxnetes.notation.hostlist import encode_hostlist
from fluxnetes.queue.states import ENDED, HOLDING, JobState

LONGEST_NAME = 253
WIDEST = 48
"""Characters that a column of `kubectl get` is given for words or for nodes."""

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBMIT_STATUS = {
    JobState.GATHERING: "statusNew",
    JobState.REJECTED: "statusError",
    JobState.CANCELLED: "statusCancel",
}


@dataclass(frozen=True, slots=True)
class FluxJobView:
    """All that is to be said of a group. Times are seconds since 1970."""

    namespace: str
    name: str
    """Of the workload, or of the group."""
    kind: Wrapped
    state: JobState
    reason: str = ""
    """In words: why it is in this state, or what it waits for."""
    queue: str = ""
    position: int | None = None
    """While it waits; 1 is the next."""
    eta: int | None = None
    """While it waits: its promised start."""
    start: int | None = None
    end: int | None = None
    """Must be there if the state is one that has ended: the record is kept so long after it."""
    walltime: int | None = None
    """None: without end."""
    nodes: tuple[str, ...] = ()
    """The node of each task, or each node once; repetitions are left out."""
    size: int = 1
    """How many pods."""
    job_id: int | None = None
    owner: Owner | None = None
    """The workload, if there is one object that is it; the record goes when it goes."""
    jobspec: str = ""
    reservation: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more will become of it."""
        return self.state in ENDED and self.end is not None

    @property
    def without_forecast(self) -> FluxJobView:
        """The same without what changes all the time while a job waits."""
        if self.state in HOLDING or self.state in ENDED:
            return self
        return replace(self, reason="", position=None, eta=None)


# --- its name ----------------------------------------------------------------------------------


def fluxjob_name(name: str, kind: Wrapped, tag: str = "") -> str:
    """The name of the record: `train-job`.

    With a tag it is another one, which the same tag gives again. Names that Kubernetes would not
    take (labels may have capitals, and anything may be too long) are changed, and get a tag by
    which they stay different.

    >>> fluxjob_name("train", Wrapped.JOB)
    'train-job'
    >>> fluxjob_name("My_Group", Wrapped.GROUP)
    'my-group-41b136d3-group'
    """
    whole = f"{name}-{kind.suffix}"
    if not tag and len(whole) <= LONGEST_NAME and _SUBDOMAIN.fullmatch(whole):
        return whole
    end = f"-{hashlib.sha256(f'{name} {tag}'.encode()).hexdigest()[:8]}-{kind.suffix}"
    stem = re.sub("[^a-z0-9]+", "-", name.lower())[: LONGEST_NAME - len(end)].strip("-")
    return (stem or "x") + end


# --- its parts ---------------------------------------------------------------------------------


def spec(view: FluxJobView) -> FluxJobSpec:
    """What was asked for, in Fluxqueue's words."""
    return FluxJobSpec(
        jobspec=view.jobspec,
        type=int(view.kind),
        name=view.name,
        duration=view.walltime or 0,
        reservation=view.reservation,
        nodes=view.size,
    )


def status(view: FluxJobView, before: FluxJobStatus, now: float) -> FluxJobStatus:
    """What has become of it; conditions that stay as they were `before` keep their times."""
    nodes = tuple(dict.fromkeys(view.nodes))
    text, short = _node_texts(nodes)
    return FluxJobStatus(
        submit_status=_SUBMIT_STATUS.get(view.state, "statusSubmit"),
        state=view.state.value,
        reason=view.reason,
        queue=view.queue,
        position=view.position,
        eta=_moment(view.eta),
        start=_moment(view.start),
        end=_moment(view.end),
        walltime=view.walltime,
        nodes=nodes,
        node_list=text,
        size=view.size,
        job_id=view.job_id,
        columns=Columns(_cut(view.reason, WIDEST), short),
        conditions=_conditions(view, {c.type: c for c in before.conditions}, now),
    )


def _conditions(
    view: FluxJobView, before: Mapping[str, Condition], now: float
) -> tuple[Condition, ...]:
    """For `kubectl wait --for=condition=Complete`; the reason is the state in one word."""
    is_over, is_good = view.state in ENDED, view.state is JobState.COMPLETED
    # A job that waits again after a preemption has no start.
    truths = {
        "Scheduled": view.state in HOLDING or view.start is not None,
        "Complete": is_good,
        "Failed": is_over and not is_good,
    }
    word = view.state.value.title().replace(" ", "")
    return tuple(
        _condition(type, "True" if is_true else "False", word, before.get(type), now)
        for type, is_true in truths.items()
    )


def _condition(
    type: str, status: str, reason: str, before: Condition | None, now: float
) -> Condition:
    since = before.last_transition_time if before and before.status == status else _moment(int(now))
    return Condition(type, status, reason, last_transition_time=since)


@lru_cache(256)
def _node_texts(nodes: tuple[str, ...]) -> tuple[str, str]:
    """The nodes as a hostlist, whole and cut."""
    text = encode_hostlist(nodes)
    if len(text) <= WIDEST:
        return text, text
    more = f" +{len(nodes) - 1}"
    return text, _cut(nodes[0], WIDEST - len(more)) + more


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _cut(text: str, width: int) -> str:
    """The beginning of a text, up to a word's end if that is not far.

    >>> _cut("all 16 nodes are busy until noon", 20)
    'all 16 nodes are...'
    """
    if len(text) <= width:
        return text
    start = text[: width - 3]
    words = start.rsplit(" ", 1)[0]
    return (words if len(words) > width // 2 else start).rstrip(" ,;:(") + "..."
