"""What a reason says is true: its causes are causes, and its numbers are those of the graph.

A cluster of pools with closed nodes, nodes that are down, usage of others and jobs is drawn, and a
request that does not fit. Each cause that the reason names is then removed for good.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.common.reasons import Amount, Message, Reason
from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.pools import pool_graph
from fluxnetes.jobspec.build import jobspec, node, res, slot
from fluxnetes.jobspec.constraint import Hostlist
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.match.answers import Operation, Outcome
from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.match.matcher import Matcher
from fluxnetes.match.nodes import NodeIndex
from tests.property.profile import examples

NODES = 4
CPU = 8


@dataclass(frozen=True)
class Drawn:
    """One cluster and one request."""

    closed: frozenset[int]
    down: frozenset[int]
    used: tuple[int, ...]
    jobs: tuple[int, ...]
    hosts: frozenset[int]
    pods: int
    cpu: int
    by_jobspec: bool

    def matcher(self, *, closed: bool = True, used: bool = True) -> Matcher:
        """The cluster, perhaps with its closed nodes opened, or without usage of others."""
        matcher = Matcher(graph(), policy="low")
        index = NodeIndex(matcher)
        for number, cpu in enumerate(self.jobs):
            if cpu:
                placed = matcher.allocate(self._gang(1, cpu, frozenset({number})))
                assert placed
        if used:
            usage = {f"node{n}": {"cpu": amount} for n, amount in enumerate(self.used) if amount}
            index.occupy(usage)
        index.mark(index.named(f"node{n}" for n in sorted(self.down)), up=False)
        if closed:
            index.close(index.named(f"node{n}" for n in sorted(self.closed)), closed=True)
        return matcher

    @property
    def request(self) -> Jobspec | Gang:
        if not self.by_jobspec:
            return self._gang(self.pods, self.cpu, self.hosts)
        constraint = Hostlist(frozenset(f"node{n}" for n in self.hosts))
        return jobspec(slot(self.pods, res("cpu", self.cpu)), constraint=constraint)

    @staticmethod
    def _gang(pods: int, cpu: int, hosts: frozenset[int]) -> Gang:
        constraint = Hostlist(frozenset(f"node{n}" for n in hosts))
        return Gang((Shape(pods, (("cpu", cpu),), constraint),))

    @property
    def free(self) -> list[int]:
        """What each node that may be used has free; nothing where it takes no new jobs."""
        taken = zip(self.jobs, self.used, strict=True)
        free = [max(CPU - used, 0) - job for job, used in taken]
        shut = self.closed | self.down
        return [0 if n in shut else max(free[n], 0) for n in sorted(self.hosts)]


def graph() -> ResourceGraph:
    return pool_graph({f"node{n}": {"cpu": CPU} for n in range(NODES)})


some_nodes = st.frozensets(st.integers(0, NODES - 1), max_size=NODES)
amounts = st.lists(st.sampled_from([0, 0, 2, 5, 8]), min_size=NODES, max_size=NODES).map(tuple)
drawn = st.builds(
    Drawn,
    closed=some_nodes,
    down=some_nodes.map(lambda nodes: frozenset(sorted(nodes)[:1])),
    used=amounts,
    jobs=amounts,
    hosts=some_nodes,
    pods=st.integers(1, 3),
    cpu=st.integers(1, 9),
    by_jobspec=st.booleans(),
)


def innermost(reason: Reason) -> Reason:
    """The reason without the causes and contexts around it."""
    inside = dict(reason.args).get("reason")
    return innermost(inside) if isinstance(inside, Reason) else reason


@examples(300)
@given(drawn)
def test_a_cause_that_a_reason_names_is_one(it: Drawn) -> None:
    answer = it.matcher().allocate(it.request)
    if answer:
        return
    assert answer.outcome is Outcome.BUSY
    assert answer.reason is not None
    fits = {
        Message.CLOSED_IN_THE_WAY: bool(it.matcher(closed=False).allocate(it.request)),
        Message.FOREIGN_IN_THE_WAY: bool(it.matcher(used=False).allocate(it.request)),
        Message.CLOSED_AND_FOREIGN: bool(it.matcher(closed=False, used=False).allocate(it.request)),
    }
    expected = next((message for message, fit in fits.items() if fit), None)
    found = answer.reason.message if answer.reason.message in fits else None
    assert found is expected


@examples(300)
@given(drawn)
def test_the_numbers_of_a_reason_are_those_of_nodes_that_may_be_used(it: Drawn) -> None:
    answer = it.matcher().allocate(it.request)
    if answer or answer.reason is None:
        return
    reason = innermost(answer.reason)
    args = dict(reason.args)
    match reason.message:
        case Message.CONSTRAINT_UNMET | Message.NO_NODE_OF_KIND:
            assert not it.hosts
        case Message.CONSTRAINT_SHUT | Message.NO_NODE_OPEN:
            assert it.hosts
            assert it.hosts <= it.closed | it.down
        case Message.POD_FREE_ON_ONE_NODE | Message.MOST_FREE_ON_ONE:
            assert args["best"] == Amount(max(it.free), "cpu")
            assert max(it.free) < it.cpu
        case Message.PODS:
            assert args["found"] == sum(free // it.cpu for free in it.free) < it.pods
        case Message.FEW_FREE:
            assert args["have"] == sum(free // it.cpu for free in it.free) < it.pods
        case Message.NONE_FREE | Message.OUT_OF_REACH:
            assert not any(free >= it.cpu for free in it.free)
        case other:
            pytest.fail(f"an unexpected reason: {other}: {reason}")


@examples(100)
@given(drawn)
def test_a_request_that_can_never_fit_says_what_nodes_have_and_not_what_is_free(it: Drawn) -> None:
    answer = it.matcher().match(Operation.SATISFIABILITY, it.request)
    if answer:
        return
    reason = innermost(answer.reason) if answer.reason is not None else None
    assert reason is not None
    args = dict(reason.args)
    if reason.message in (Message.POD_ON_ONE_NODE, Message.LARGEST_HAS):
        assert args["best"] == Amount(CPU, "cpu")
    elif reason.message in (Message.PODS_EVER, Message.FEW_EXIST):
        assert (args.get("found") or args.get("have")) == len(it.hosts) * (CPU // it.cpu)
    else:
        assert reason.message in (Message.CONSTRAINT_UNMET, Message.NO_NODE_OF_KIND)


def test_a_node_of_a_request_is_told_of_where_its_rack_is_shut() -> None:
    """`node > slot` asks for nodes, and its reason tells of them in the same way."""
    matcher = Matcher(graph(), policy="low")
    index = NodeIndex(matcher)
    index.close(index.named(["node0", "node1"]), closed=True)
    answer = matcher.allocate(jobspec(node(3, slot(1, res("cpu", 1)))))
    assert str(answer.reason) == "needs 3 node; of 4, 0 are down and 2 take no new jobs"
