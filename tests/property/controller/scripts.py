"""Streams of happenings."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.property.controller.happenings import (
    ActionsGo,
    AdmissionChanges,
    AtOnce,
    CrashAtCommit,
    Happening,
    JobComes,
    JobGoes,
    JobHeld,
    JobScaled,
    JobsHesitate,
    JobSuspended,
    NewsLag,
    NodeChanges,
    NodeCloses,
    NodeComes,
    NodeGoes,
    OtherComes,
    OtherGoes,
    PodComes,
    PodEnds,
    PodGoes,
    PodsCome,
    PodsLinger,
    Restart,
    SeenTwice,
    Wait,
    Where,
)
from tests.unit.controller.fake_executor import Luck

_some = st.integers(0, 5)
_cpus = st.integers(1, 4)
_few = st.none() | st.integers(1, 8)
_seldom = st.sampled_from([False, False, False, True])
_where = st.just(Where.ANYWHERE) | st.sampled_from(Where)

JOBS = st.builds(
    JobComes,
    pods=st.integers(1, 5),
    cpu=_cpus,
    completions=st.sampled_from([-1, -1, None, 1, 3]),
    indexed=st.booleans(),
    walltime=st.none() | st.integers(2, 8),
    least=st.none() | st.integers(1, 3),
    where=_where,
    held=_seldom,
    ring=st.sampled_from([0, 0, 0, 3, 4]),
    again=st.booleans(),
)
RINGS = st.builds(
    PodsCome,
    size=st.integers(1, 4),
    cpus=st.lists(_cpus, min_size=1, max_size=4).map(tuple),
    most=st.none() | st.integers(1, 5),
)
PODS = st.builds(
    PodComes, _cpus, alone=st.booleans(), gated=st.booleans(), deadline=_few, where=_where
)
COMING = JOBS | RINGS | PODS
USERS = (
    COMING
    | COMING
    | st.builds(JobGoes, _some)
    | st.builds(PodGoes, _some)
    | st.builds(JobScaled, _some, st.integers(0, 5))
    | st.builds(JobSuspended, _some, st.booleans())
    | st.builds(JobHeld, _some, st.booleans())
    | st.builds(AdmissionChanges, st.integers(0, 4))
)
ENDS = (
    st.builds(PodEnds, _some, st.booleans())
    | st.builds(PodEnds, _some)
    | st.builds(PodsLinger, st.integers(0, 4))
    | st.builds(JobsHesitate, st.integers(0, 9))
)
NODES_AND_OTHERS = (
    st.builds(NodeGoes, _some)
    | st.builds(NodeComes, _some)
    | st.builds(NodeCloses, _some, st.booleans())
    | st.builds(NodeChanges, _some, st.integers(2, 6), st.booleans())
    | st.builds(OtherComes, _some, st.integers(1, 3))
    | st.builds(OtherGoes, _some)
)
LUCK = st.builds(ActionsGo, st.lists(st.sampled_from(Luck), min_size=1, max_size=4).map(tuple))
TROUBLE = (
    LUCK
    | st.builds(NewsLag, st.frozensets(st.sampled_from(["pods", "jobs", "nodes"])))
    | st.builds(SeenTwice)
)
FALLS = st.builds(Restart, st.booleans()) | st.builds(CrashAtCommit, st.booleans())


def stories(events: st.SearchStrategy[Happening]) -> st.SearchStrategy[list[Happening]]:
    """Something comes; then several things happen at once, then time passes, and so on."""
    several = st.lists(COMING | events, min_size=1, max_size=4).map(tuple)
    late = st.lists(events, max_size=2).map(tuple)
    moment = st.builds(AtOnce, several, late)
    waiting = st.builds(Wait, st.integers(1, 9))
    return st.lists(moment | moment | waiting, min_size=3, max_size=14)
