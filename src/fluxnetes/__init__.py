"""Fluxnetes: a batch scheduler for Kubernetes, and its public Python API.

    from fluxnetes import Matcher, Scheduler, read_graph, parse_jobspec

The names of `__all__` are the API for programs that embed the matcher or the queue; the client of a
running service is `fluxnetes.client`. Everything else may change between versions.

    graphs     read_graph(text) -> ResourceGraph; write_placement(...) -> text
    jobspecs   parse_jobspec(text) -> Jobspec, or build_jobspec(slot(2, node())) -> Jobspec
    matcher    Matcher(graph).match(Operation, Jobspec | Gang) -> Answer
    queue      Scheduler(matcher, SchedulerConfig): apply(event), cycle(), take_changes(), explain()

A name is imported when it is first used (PEP 562): `import fluxnetes` and `import fluxnetes.client`
load neither NumPy nor any server code.

The packages, from the top; each imports only those below it:

    cli         the command `fluxnetes` (also `__main__`)
    rpc         gRPC: the service for callers
    controller  the control loop of Kubernetes
    webhook     admission of Jobs and Pods that opted in
    service     what callers ask of a matcher or a queue, independent of any wire protocol
    cluster     Kubernetes objects as resources and requests
    kube        a client for the Kubernetes API
    plane       a local control plane, for trials and tests
    simulate    the scheduler on virtual time
    store       the queue in Postgres
    queue       which job starts next, and which start is planned
    match       where a request fits, now or later
    graph       the resources
    jobspec     the requests
    common      reasons as data, backoff, file locks, certificates, array types
    notation    idsets and hostlists
    v1          the messages of the gRPC API
    client      a client of the service; imports only v1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Lists too long for a line are several imports, which isort would join.
    # isort: off
    from fluxnetes.common.reasons import Amount, JobRef, Message, Moment, Reason, ReasonCode
    from fluxnetes.common.reasons import ResourceHours
    from fluxnetes.graph.columns import GraphError, ResourceGraph
    from fluxnetes.graph.placement import Placement
    from fluxnetes.graph.readers import read_graph
    from fluxnetes.graph.writers import render as write_placement
    from fluxnetes.jobspec.build import core, gpu, memory, node, rack, slot, socket, xor_slot
    from fluxnetes.jobspec.build import jobspec as build_jobspec
    from fluxnetes.jobspec.build import res as resource
    from fluxnetes.jobspec.constraint import parse_constraint
    from fluxnetes.jobspec.errors import JobspecError
    from fluxnetes.jobspec.model import Count, Jobspec, Resource
    from fluxnetes.jobspec.parse import parse_jobspec
    from fluxnetes.match.answers import Answer, Operation, Outcome
    from fluxnetes.match.errors import MatchError, UnknownMatchJob, UnknownPath
    from fluxnetes.match.gang.model import Gang, Seats, Shape, TopologyRequest
    from fluxnetes.match.matcher import Matcher
    from fluxnetes.queue.changes import Allocation, Changes, JobEvent, Snapshot
    from fluxnetes.queue.config import BackfillPolicy, BudgetConfig, FairShare, LimitConfig
    from fluxnetes.queue.config import PriorityWeights, QueueConfig, SchedulerConfig
    from fluxnetes.queue.config import UnsatisfiablePolicy
    from fluxnetes.queue.errors import QueueError, QueueRefused, UnknownQueue, UnknownQueueJob
    from fluxnetes.queue.events import Adopt, Alter, Cancel, Ended, Gathered, GraphChanged, Grow
    from fluxnetes.queue.events import Hold, Maintain, NodesBack, NodesClosed, NodesLost
    from fluxnetes.queue.events import NodesOpened, Occupied, PartsLost, Release, RemoveWindow
    from fluxnetes.queue.events import Reseat, Reserve, Reshape, Returned, SetQueue, Started, Submit
    from fluxnetes.queue.events import TaskEnded, TasksEnded
    from fluxnetes.queue.explain import Explanation
    from fluxnetes.queue.jobs import Dependency, DependencyKind, ElasticSize, JobArray, OnLoss
    from fluxnetes.queue.jobs import Origin, PlannedStart, QueueJob, Submission
    from fluxnetes.queue.scheduler import Scheduler
    from fluxnetes.queue.states import EndCause, JobState
    # isort: on

    __version__: str

__all__ = [
    "Adopt",
    "Allocation",
    "Alter",
    "Amount",
    "Answer",
    "BackfillPolicy",
    "BudgetConfig",
    "Cancel",
    "Changes",
    "Count",
    "Dependency",
    "DependencyKind",
    "ElasticSize",
    "EndCause",
    "Ended",
    "Explanation",
    "FairShare",
    "Gang",
    "Gathered",
    "GraphChanged",
    "GraphError",
    "Grow",
    "Hold",
    "JobArray",
    "JobEvent",
    "JobRef",
    "JobState",
    "Jobspec",
    "JobspecError",
    "LimitConfig",
    "Maintain",
    "MatchError",
    "Matcher",
    "Message",
    "Moment",
    "NodesBack",
    "NodesClosed",
    "NodesLost",
    "NodesOpened",
    "Occupied",
    "OnLoss",
    "Operation",
    "Origin",
    "Outcome",
    "PartsLost",
    "Placement",
    "PlannedStart",
    "PriorityWeights",
    "QueueConfig",
    "QueueError",
    "QueueJob",
    "QueueRefused",
    "Reason",
    "ReasonCode",
    "Release",
    "RemoveWindow",
    "Reseat",
    "Reserve",
    "Reshape",
    "Resource",
    "ResourceGraph",
    "ResourceHours",
    "Returned",
    "Scheduler",
    "SchedulerConfig",
    "Seats",
    "SetQueue",
    "Shape",
    "Snapshot",
    "Started",
    "Submission",
    "Submit",
    "TaskEnded",
    "TasksEnded",
    "TopologyRequest",
    "UnknownMatchJob",
    "UnknownPath",
    "UnknownQueue",
    "UnknownQueueJob",
    "UnsatisfiablePolicy",
    "__version__",
    "build_jobspec",
    "core",
    "gpu",
    "memory",
    "node",
    "parse_constraint",
    "parse_jobspec",
    "rack",
    "read_graph",
    "resource",
    "slot",
    "socket",
    "write_placement",
    "xor_slot",
]

_MODULES = {
    "common.reasons": "Amount JobRef Message Moment Reason ReasonCode ResourceHours",
    "graph.columns": "GraphError ResourceGraph",
    "graph.placement": "Placement",
    "graph.readers": "read_graph",
    "graph.writers": "write_placement",
    "jobspec.build": ("build_jobspec core gpu memory node rack resource slot socket xor_slot"),
    "jobspec.constraint": "parse_constraint",
    "jobspec.errors": "JobspecError",
    "jobspec.model": "Count Jobspec Resource",
    "jobspec.parse": "parse_jobspec",
    "match.answers": "Answer Operation Outcome",
    "match.errors": "MatchError UnknownMatchJob UnknownPath",
    "match.gang.model": "Gang Seats Shape TopologyRequest",
    "match.matcher": "Matcher",
    "queue.changes": "Allocation Changes JobEvent Snapshot",
    "queue.config": (
        "BackfillPolicy BudgetConfig FairShare LimitConfig PriorityWeights QueueConfig "
        "SchedulerConfig UnsatisfiablePolicy"
    ),
    "queue.errors": "QueueError QueueRefused UnknownQueue UnknownQueueJob",
    "queue.events": (
        "Adopt Alter Cancel Ended Gathered GraphChanged Grow Hold Maintain NodesBack NodesClosed "
        "NodesLost NodesOpened Occupied PartsLost Release RemoveWindow Reseat Reserve Reshape "
        "Returned SetQueue Started Submit TaskEnded TasksEnded"
    ),
    "queue.explain": "Explanation",
    "queue.jobs": (
        "Dependency DependencyKind ElasticSize JobArray OnLoss Origin PlannedStart QueueJob "
        "Submission"
    ),
    "queue.scheduler": "Scheduler",
    "queue.states": "EndCause JobState",
}
"""The public names, by the module under `fluxnetes` that defines them."""

_NAMES_THERE = {"build_jobspec": "jobspec", "resource": "res", "write_placement": "render"}
"""The names that differ in their module. A public name must not be that of a subpackage: importing
`fluxnetes.jobspec` sets `fluxnetes.jobspec` to the package."""

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, and keep it."""
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("fluxnetes")
    elif name in _MODULE_OF:
        from importlib import import_module

        module = import_module(f"fluxnetes.{_MODULE_OF[name]}")
        found = getattr(module, _NAMES_THERE.get(name, name))
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
