"""Nodes change their racks while gangs wait and run: what runs goes on, what starts is as asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.match.gang.model import Gang, TopologyRequest
from tests.oracle.topology import is_allowed
from tests.property.profile import examples
from tests.unit.cluster.builders import a_job, machine
from tests.unit.controller.play import Play

RACK = "example.com/rack"
RACKS = ("r0", "r1", None)
NODES = ("n0", "n1", "n2", "n3")
KEYS: tuple[dict[str, str], ...] = (
    {},
    {"required": RACK},
    {"required": "node"},
    {"preferred": RACK},
    {"slice": RACK, "slice-size": "2"},
    {"spread": RACK, "spread-max": "2"},
    {"required": RACK, "spread": "node"},
)


@dataclass
class Story:
    """A cluster, and the jobs that were created in it."""

    play: Play
    racks: dict[str, str | None]
    jobs: int = 0
    placed: dict[str, list[str]] = field(default_factory=dict)
    """The nodes of the pods of each job that runs, in order of their indices."""

    def label(self, node: str, rack: str | None) -> None:
        self.racks[node] = rack
        self.play.put(machine(node, labels={RACK: rack} if rack else {}))

    def submit(self, pods: int, cpu: int, keys: dict[str, str]) -> None:
        self.jobs += 1
        asked = {f"fluxnetes.io/topology-{key}": value for key, value in keys.items()}
        job: Any = a_job(
            f"j{self.jobs}",
            pods=pods,
            cpu=str(cpu),
            annotations=asked,
            completionMode="Indexed",
        )
        self.play.put(job)

    def end(self, pick: int) -> None:
        names = sorted(self.placed)
        if names:
            name = names[pick % len(names)]
            del self.placed[name]
            self.play.end(*self.play.pods(name))

    def check(self) -> None:
        """What ran before runs where it ran; what started is placed as it asked for."""
        for number in range(1, self.jobs + 1):
            name = f"j{number}"
            pods = {pod.metadata.name: pod.spec.node_name for pod in self.play.pods(name)}
            nodes = [node for _, node in sorted(pods.items()) if node]
            if name in self.placed:
                assert nodes == self.placed[name], f"{name} was moved, or has ended"
            elif nodes:
                self.placed[name] = nodes
                self._check_start(name, nodes)

    def _check_start(self, name: str, nodes: list[str]) -> None:
        jobs = self.play.shared.scheduler.jobs.values()
        (request,) = (job.submission.request for job in jobs if job.submission.name == name)
        assert isinstance(request, Gang)
        assert len(nodes) == sum(shape.count for shape in request.shapes), "all pods or none"
        if request.topology is not None:
            assert is_allowed(request.topology, [Counter(nodes)], self._domains(request.topology))

    def _domains(self, request: TopologyRequest) -> dict[str, dict[str, str]]:
        level = f"level:{RACK}"
        return {
            node: {"node": node} | ({level: rack} if rack else {})
            for node, rack in self.racks.items()
        }


actions = st.one_of(
    st.tuples(
        st.just("submit"), st.integers(1, 4), st.sampled_from([1, 2, 4]), st.sampled_from(KEYS)
    ),
    st.tuples(st.just("label"), st.sampled_from(NODES), st.sampled_from(RACKS)),
    st.tuples(st.just("end"), st.integers(0, 9)),
    st.tuples(st.just("restart"), st.booleans()),
    st.tuples(st.just("wait"), st.integers(1, 8)),
)


@given(
    st.tuples(*[st.sampled_from(RACKS)] * len(NODES)), st.lists(actions, min_size=3, max_size=14)
)
@examples(60)
def test_what_runs_on_nodes_that_move_goes_on_and_what_starts_is_placed_as_it_asked(
    racks: tuple[str | None, ...], story: list[tuple[Any, ...]]
) -> None:
    with Play(topology=("zone", RACK)) as play:
        scene = Story(play, {})
        for node, rack in zip(NODES, racks, strict=True):
            scene.label(node, rack)
        for action in story:
            _act(scene, action)
            scene.check()
        for _ in range(scene.jobs):
            while scene.placed:
                scene.end(0)
                scene.check()
        assert not any(play.shared.matcher.engine.ledger.held), "all that was held is free"


def _act(scene: Story, action: tuple[Any, ...]) -> None:
    match action:
        case "submit", pods, cpu, keys:
            scene.submit(pods, cpu, keys)
        case "label", node, rack:
            scene.label(node, rack)
        case "end", pick:
            scene.end(pick)
        case "restart", empty:
            scene.play.restart(empty=empty)
            scene.play.settle()
        case "wait", seconds:
            scene.play.wait(seconds)
