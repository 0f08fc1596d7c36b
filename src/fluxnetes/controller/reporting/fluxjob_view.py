"""Computes the content of a FluxJob from what the controller knows of a group. Pure.

A `FluxJobView` is everything that is reported of a group at one moment. `spec`, `status` and
`fluxjob_name` turn it into the parts of a FluxJob. `fluxjob_sync` and `fluxjob_writer` write them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from fluxnetes.controller.reporting.waiting import FIRST_IN_LINE
from fluxnetes.kube.objects.base import Condition, Owner
from fluxnetes.kube.objects.fluxjobs import Columns, FluxJobSpec, FluxJobStatus, Wrapped
from fluxnetes.notation.hostlist import encode_hostlist
from fluxnetes.queue.states import ENDED, HOLDING, JobState

LONGEST_NAME = 253
"""Maximum length of an object's name in Kubernetes."""
WIDEST = 48
"""Maximum characters of a reason or a node list in a column of `kubectl get`."""

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBMIT_STATUS = {
    JobState.GATHERING: "statusNew",
    JobState.REJECTED: "statusError",
    JobState.CANCELLED: "statusCancel",
}


@dataclass(frozen=True, slots=True)
class FluxJobView:
    """Everything that is reported of a group. Times are seconds since 1970."""

    namespace: str
    name: str
    """Of the workload, or of the group."""
    kind: Wrapped
    state: JobState
    reason: str = ""
    reason_code: str = ""
    """Why it is in this state, or what it waits for; in words."""
    queue: str = ""
    position: int | None = None
    """In the queue, while it waits; 1 is first."""
    eta: int | None = None
    """While it waits: its promised start."""
    start: int | None = None
    end: int | None = None
    """Required once the job has ended: the FluxJob is kept for some time after it."""
    walltime: int | None = None
    """None: unlimited."""
    nodes: tuple[str, ...] = ()
    """The node of each task, or each node once; duplicates are removed."""
    size: int = 1
    """The number of pods."""
    job_id: int | None = None
    owner: Owner | None = None
    """The workload, if it is one object; the FluxJob is deleted with it."""
    jobspec: str = ""
    reservation: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in ENDED and self.end is not None

    @property
    def is_near(self) -> bool:
        """Whether its forecast is written soon: it is one of the first jobs of its queue, or waits
        for something else than its turn."""
        return self.position is None or self.position <= FIRST_IN_LINE

    @property
    def without_forecast(self) -> FluxJobView:
        """The same without the fields that change all the time while a job waits."""
        if self.state in HOLDING or self.state in ENDED:
            return self
        return replace(self, reason="", reason_code="", position=None, eta=None)


# --- its name ----------------------------------------------------------------------------------


def fluxjob_name(name: str, kind: Wrapped, tag: str = "") -> str:
    """The name of a FluxJob: `train-job`.

    With a tag, the name is another one, and the same for the same tag. Names that Kubernetes would
    refuse (labels may have capitals, and any name may be too long) are changed, and get a hash that
    keeps them distinct.

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
    """What was asked for, in the fields of Fluxqueue's FluxJob."""
    return FluxJobSpec(
        jobspec=view.jobspec,
        type=int(view.kind),
        name=view.name,
        duration=view.walltime or 0,
        reservation=view.reservation,
        nodes=view.size,
    )


def status(view: FluxJobView, before: FluxJobStatus, now: float) -> FluxJobStatus:
    """The state of the job; conditions that stay as they were `before` keep their times."""
    nodes = tuple(dict.fromkeys(view.nodes))
    text, short = _node_texts(nodes)
    return FluxJobStatus(
        submit_status=_SUBMIT_STATUS.get(view.state, "statusSubmit"),
        state=view.state.value,
        reason=view.reason,
        reason_code=view.reason_code,
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
    """For `kubectl wait --for=condition=Complete`; the reason is the state as one word."""
    is_over, is_good = view.state in ENDED, view.state is JobState.COMPLETED
    # A job that waits again after a preemption has no start.
    values = {
        "Scheduled": view.state in HOLDING or view.start is not None,
        "Complete": is_good,
        "Failed": is_over and not is_good,
    }
    word = view.state.value.title().replace(" ", "")
    return tuple(
        _condition(type, "True" if is_true else "False", word, before.get(type), now)
        for type, is_true in values.items()
    )


def _condition(
    type: str, status: str, reason: str, before: Condition | None, now: float
) -> Condition:
    since = before.last_transition_time if before and before.status == status else _moment(int(now))
    return Condition(type, status, reason, last_transition_time=since)


@lru_cache(256)
def _node_texts(nodes: tuple[str, ...]) -> tuple[str, str]:
    """The nodes as a hostlist, whole and shortened."""
    text = encode_hostlist(nodes)
    if len(text) <= WIDEST:
        return text, text
    more = f" +{len(nodes) - 1}"
    return text, _cut(nodes[0], WIDEST - len(more)) + more


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _cut(text: str, width: int) -> str:
    """The beginning of a text, cut at the end of a word if that is near.

    >>> _cut("all 16 nodes are busy until noon", 20)
    'all 16 nodes are...'
    """
    if len(text) <= width:
        return text
    start = text[: width - 3]
    words = start.rsplit(" ", 1)[0]
    return (words if len(words) > width // 2 else start).rstrip(" ,;:(") + "..."
