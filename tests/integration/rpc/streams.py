"""Random requests, and the matcher asked for the same without any wire between.

`Direct` does with a matcher of its own what a server is asked to do, through the Python API alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from fluxnetes.common.reasons.text import reason_text
from fluxnetes.graph.placement import Placement
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.writers.jgf import write_jgf, write_jgf_in_full
from fluxnetes.jobspec.errors import JobspecError
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.matcher import Matcher, UnknownMatchJob, UnknownPath
from tests.integration.rpc.allocations import cores_by_node
from tests.integration.rpc.graphs import another_node
from tests.integration.rpc.jobspecs import nodes, slots, whole_nodes

NODES, CORES, MEMORY = 12, 8, 16


@dataclass(frozen=True)
class Ask:
    """One request, in words that all ways to ask have."""

    what: str
    """`match`, `pods`, `clocked`, `cancel`, `grow` or `shrink`."""
    jobspec: str = ""
    reserve: bool = False
    now: int = 0
    job: int = 0
    count: int = 0
    cpu: int = 0
    node: int = 0
    cores: int = 0


class Requests:
    """Requests that fill a cluster of ours now and then, and leave it again."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._now = 0
        self._nodes = NODES

    def next(self, live: list[int]) -> Ask:
        """Another one, where these jobs live."""
        draw = self._draw
        kinds = {"match": 30, "pods": 10, "clocked": 15, "cancel": 38, "grow": 2, "shrink": 1}
        [what] = draw.choices(list(kinds), list(kinds.values()))
        if what == "cancel":
            known = live and draw.random() < 0.8
            return Ask(what, job=draw.choice(live) if known else draw.randrange(1000))
        if what == "grow":
            self._nodes += 1
            return Ask(what, node=self._nodes - 1, cores=draw.randint(1, CORES))
        if what == "shrink":
            return Ask(what, node=draw.randrange(self._nodes))
        if what == "pods":
            return Ask(what, count=draw.randint(1, 6), cpu=draw.randint(1, CORES + 1))
        # Clients of the old dialects have no clock: for them it is always 0.
        self._now += draw.choice([0, 0, 10, 300])
        now = self._now if what == "clocked" else 0
        return Ask(what, jobspec=_shape(draw), reserve=draw.random() < 0.3, now=now)


def _shape(draw: random.Random) -> str:
    duration = draw.choice([0, 60, 100, 3600])
    match draw.randrange(12):
        case 0:
            return whole_nodes(draw.randint(1, 4), duration)
        case 1:
            return slots(-1, 1)
        case 2:
            return nodes(draw.randint(NODES, 2 * NODES), draw.randint(1, CORES), duration)
        case 3 | 4:
            return slots(draw.randint(1, 3), draw.randint(1, 2), duration, memory=MEMORY)
        case 5 | 6 | 7:
            return nodes(draw.randint(1, 4), draw.randint(1, CORES), duration)
    return slots(draw.randint(1, 6), draw.randint(1, CORES), duration)


@dataclass
class Reply:
    """An answer, in words that all ways to answer have."""

    outcome: str
    job: int = 0
    at: int = 0
    allocation: str = ""
    """As JGF, as the answering side wrote it."""
    tasks: dict[str, int] = field(default_factory=dict)
    reason: str = ""


class Direct:
    """A matcher that is simply called."""

    def __init__(self, graph: str, policy: str) -> None:
        self.matcher = Matcher(read_graph(graph, "jgf"), policy=policy)

    def __call__(self, ask: Ask) -> Reply:
        found: Reply = getattr(self, f"_{ask.what}")(ask)
        return found

    def _match(self, ask: Ask) -> Reply:
        return self._reply(ask.jobspec, ask, full=True)

    def _clocked(self, ask: Ask) -> Reply:
        return self._reply(ask.jobspec, ask, full=False)

    def _pods(self, ask: Ask) -> Reply:
        reply = self._reply(slots(ask.count, ask.cpu), ask, full=True)
        if reply.allocation:  # and as the old sidecar counted them
            cores = cores_by_node(reply.allocation)
            reply.tasks = {node: there // ask.cpu for node, there in cores.items()}
        reply.allocation = ""
        return reply

    def _reply(self, text: str, ask: Ask, full: bool) -> Reply:
        how = Operation.ALLOCATE_ORELSE_RESERVE if ask.reserve else Operation.ALLOCATE
        try:
            jobspec = parse_jobspec(text)
        except JobspecError as error:
            return Reply("invalid", reason=str(error))
        answer = self.matcher.match(how, jobspec, now=ask.now)
        if answer.outcome is Outcome.BUSY:
            ever = self.matcher.satisfiable(jobspec)
            if not ever:
                answer = Answer(ever.outcome, answer.jobid, reason=ever.reason)
        text = self._text(answer.placement, full)
        return Reply(
            answer.outcome.value, answer.jobid, answer.at, text, reason=reason_text(answer.reason)
        )

    def _text(self, placement: Placement | None, full: bool) -> str:
        if placement is None:
            return ""
        write = write_jgf_in_full if full else write_jgf
        return write(self.matcher.graph, placement)

    def _cancel(self, ask: Ask) -> Reply:
        try:
            self.matcher.cancel(ask.job)
        except UnknownMatchJob:
            return Reply("unknown")
        return Reply("done")

    def _grow(self, ask: Ask) -> Reply:
        self.matcher.attach(another_node(ask.node, ask.cores))
        return Reply("done")

    def _shrink(self, ask: Ask) -> Reply:
        try:
            self.matcher.remove(f"/cluster0/node{ask.node}")
        except UnknownPath:
            return Reply("invalid")
        return Reply("done")

    def live(self) -> list[int]:
        return [id for id, job in self.matcher.jobs.items() if not job.cancelled]

    def holders(self) -> dict[int, dict[str, int]]:
        """The cores that each job has, by node, counted in its placement."""
        jobs = self.matcher.jobs
        texts = {id: self._text(jobs[id].placement, full=True) for id in self.live()}
        return {id: dict(cores_by_node(text)) for id, text in texts.items()}
