"""Streams of happenings."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.property.controller.happenings import (
    ActionsGo,
    AdmissionChanges,
    AtOnce,
    Away,
    CrashAtCommit,
    Happening,
    JobAsksForTime,
    JobComes,
    JobGoes,
    JobHeld,
    JobScaled,
    JobsHesitate,
    JobSuspended,
    Naming,
    NewsLag,
    NodeChanges,
    NodeCloses,
    NodeComes,
    NodeDrained,
    NodeGoes,
    OtherComes,
    OtherGoes,
    Pause,
    PodComes,
    PodEnds,
    PodGoes,
    PodGroupComes,
    PodGroupGoes,
    PodsCome,
    PodsLinger,
    PodsOutliveNodes,
    Restart,
    SeenTwice,
    Service,
    ServiceComes,
    ServiceGoes,
    ServiceRolledOut,
    ServiceScaled,
    Wait,
    Where,
)
from tests.unit.controller.fake_executor import Luck

_some = st.integers(0, 5)
_cpus = st.integers(1, 4)
_few = st.none() | st.integers(1, 8)
_seldom = st.sampled_from([False, False, False, True])
_names = st.sampled_from(Naming)
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
    plain=st.booleans(),
    deadline=st.none() | st.integers(2, 8),
    incomplete=st.sampled_from([None, "wait", "requeue", "fail"]),
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
NAMED = st.builds(
    JobComes,
    pods=st.integers(1, 4),
    cpu=st.integers(1, 2),
    walltime=st.sampled_from([None, None, 2]),
    names=_names,
    plain=st.booleans(),
    again=st.booleans(),
) | st.builds(
    PodsCome,
    size=st.integers(1, 4),
    cpus=st.lists(st.just(1), min_size=1, max_size=3).map(tuple),
    names=_names,
)
POD_GROUPS = st.builds(PodGroupComes, _some, st.integers(1, 6), _names)
COMING = JOBS | RINGS | PODS
USERS = (
    COMING
    | COMING
    | st.builds(JobGoes, _some)
    | st.builds(PodGoes, _some)
    | st.builds(JobScaled, _some, st.integers(0, 5))
    | st.builds(JobSuspended, _some, st.booleans())
    | st.builds(JobHeld, _some, st.booleans())
    | st.builds(JobAsksForTime, _some, st.integers(1, 12))
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
    | st.builds(NodeDrained, _some)
    | st.builds(NodeChanges, _some, st.integers(2, 6), st.booleans(), st.none() | st.integers(0, 3))
    | st.builds(OtherComes, _some, st.integers(1, 3))
    | st.builds(OtherGoes, _some)
    | st.builds(PodsOutliveNodes, st.integers(0, 9))
)
GROUPS = (
    NAMED
    | NAMED
    | POD_GROUPS
    | POD_GROUPS
    | st.builds(PodGroupGoes, _some)
    | st.builds(PodEnds, _some, st.booleans())
    | st.builds(JobGoes, _some)
    | st.builds(PodGoes, _some)
    | st.builds(JobScaled, _some, st.integers(0, 5))
    | st.builds(JobAsksForTime, _some, st.integers(8, 9))
)
"""Jobs and pods that name PodGroups, which come, change and go."""
SERVICES = (
    st.builds(
        ServiceComes,
        st.sampled_from(Service),
        st.integers(0, 4),
        cpu=st.integers(1, 4),
        least=st.none() | st.none() | st.integers(1, 3),
        parallel=st.booleans(),
        walltime=st.sampled_from([None, None, 4]),
        ring=st.sampled_from([0, 0, 0, 3]),
    )
    | st.builds(ServiceScaled, _some, st.integers(0, 4))
    | st.builds(ServiceRolledOut, _some, st.integers(1, 4), st.integers(1, 3))
    | st.builds(ServiceGoes, _some)
    | st.builds(PodEnds, _some, st.just(False))
    | st.builds(PodGoes, _some)
)
"""Services that come, change and go; of their pods some end."""
LESS = (
    st.builds(NodeChanges, _some, st.integers(1, 4), st.just(True), st.none() | st.integers(0, 2))
    | st.builds(OtherComes, _some, st.just(1))
    | st.builds(OtherGoes, _some)
    | st.builds(PodEnds, _some)
    | st.builds(Restart, st.booleans())
)
"""Nodes shrink below what their pods hold, while others come and go."""
LUCK = st.builds(ActionsGo, st.lists(st.sampled_from(Luck), min_size=1, max_size=4).map(tuple))
TROUBLE = (
    LUCK
    | st.builds(NewsLag, st.frozensets(st.sampled_from(["pods", "jobs", "nodes"])))
    | st.builds(SeenTwice)
)
FALLS = st.builds(Restart, st.booleans()) | st.builds(CrashAtCommit, st.booleans())
_meanwhile = st.lists(USERS | ENDS | ENDS | NODES_AND_OTHERS, max_size=5).map(tuple)
GAPS = st.builds(Away, _meanwhile, st.integers(0, 12)) | st.builds(
    Pause, _meanwhile, st.integers(3, 12)
)


def shrinking() -> st.SearchStrategy[list[Happening]]:
    """Nodes are full, and then shrink and grow for a while."""
    filled = st.lists(JOBS | st.builds(OtherComes, _some, st.just(1)), min_size=3, max_size=6)
    moment = st.builds(AtOnce, st.lists(LESS, min_size=1, max_size=3).map(tuple))
    later = st.tuples(moment, st.builds(Wait, st.integers(1, 5)))
    start = st.builds(AtOnce, filled.map(tuple))
    rest = st.lists(later, min_size=2, max_size=6).map(lambda pairs: sum(pairs, ()))
    return st.builds(lambda first, more: [first, Wait(2), *more], start, rest)


def draining() -> st.SearchStrategy[list[Happening]]:
    """Gangs fill the nodes, of which some are drained and come back."""
    gangs = st.builds(
        JobComes,
        pods=st.integers(2, 4),
        cpu=st.integers(2, 4),
        completions=st.sampled_from([-1, -1, 2]),
        indexed=st.booleans(),
        incomplete=st.sampled_from(["wait", "requeue", "fail"]),
    )
    start = st.builds(AtOnce, st.lists(gangs, min_size=2, max_size=4).map(tuple))
    events = (
        st.builds(NodeDrained, _some)
        | st.builds(NodeDrained, _some)
        | st.builds(NodeCloses, _some, st.just(False))
        | st.builds(PodEnds, _some, st.booleans())
        | st.builds(Restart, st.just(False))
        | gangs
    )
    moment = st.builds(AtOnce, st.lists(events, min_size=1, max_size=2).map(tuple))
    later = st.tuples(moment, st.builds(Wait, st.integers(1, 9)))
    rest = st.lists(later, min_size=2, max_size=5).map(lambda pairs: sum(pairs, ()))
    return st.builds(lambda first, more: [first, Wait(2), *more], start, rest)


def stories(
    events: st.SearchStrategy[Happening],
    gaps: st.SearchStrategy[Happening] | None = None,
    coming: st.SearchStrategy[Happening] = COMING,
) -> st.SearchStrategy[list[Happening]]:
    """Something comes; then several things happen at once, then time passes, and so on."""
    several = st.lists(coming | events, min_size=1, max_size=4).map(tuple)
    late = st.lists(events, max_size=2).map(tuple)
    moment = st.builds(AtOnce, several, late)
    waiting = st.builds(Wait, st.integers(1, 9))
    usual = moment | moment | waiting
    return st.lists(usual if gaps is None else usual | gaps, min_size=3, max_size=14)
