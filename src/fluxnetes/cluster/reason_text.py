"""Reasons in the units and names that users of Kubernetes write.

The queue counts seconds, millicores and MiB, knows jobs by number, and speaks of graphs and tasks.
To it a gang `needs 9 pods of 1 pods, 1 tenancy, 16000 cpu`; its user asked for nine pods
of 16 cpu. Which pools stand for something that users never name (a pod's slot, its share of the
node's tenancy, a host port) is known here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import ClassVar

from fluxnetes.cluster.config_units import units_of
from fluxnetes.cluster.quantities import is_bytes
from fluxnetes.cluster.topology import LEVEL, level_name
from fluxnetes.common.reasons import Amount, Argument, Message, Reason, ResourceHours
from fluxnetes.common.reasons.text import TEMPLATES, ReasonText

_MEMORY = ("memory", "ephemeral-storage")
_HUGE_PAGES = "hugepages-"
_MIB_IN_GIB = 1024
_TENANCY = "tenancy"
_PORT = "port:"
_APART = "apart:"
_WHOLE_NODE = 1_000_000
"""What a pod takes of a node's tenancy that shares its node with no other pod, and of the pool of
an anti-affinity term that it carries."""
_IMPLIED = frozenset({"pods", _TENANCY})
"""Pools of which every pod takes one; that goes without saying."""
_NAMES_OF_TYPES = frozenset({"holder", "level", "path", "shape", "type"})
"""Arguments that name types of the graph, in words or in a path."""
_ZONES = {"subnet": "zone"}
"""Types of the graph that Kubernetes has another word for."""
_AFTER = {"after": "started", "afterok": "succeeded", "afterany": "ended"}
"""What the job has to have done that another one waits for."""
_ALONE = "no node is free for a pod that shares its node with no other"
_NO_PORT = "{needs} is free on no node that it may use"
_NOT_APART = "every node that it may use has a pod that anti-affinity keeps apart from it"
_IN_CLUSTER = "needs {needs}, which no node of this cluster can hold as it is asked for"

_OTHER_WORDS: Mapping[Message, str] = {
    Message.CANNOT_HOLD: _IN_CLUSTER,
    Message.UNKNOWN_TYPE: "needs {type}, which no node of this cluster has",
    Message.NO_SUCH_SHAPE: "nothing in this cluster is built like {shape}",
    Message.NONE_EXISTS: "needs {needs}; none in this cluster could serve",
    Message.FEW_EXIST: "needs {needs}; only {have} in this cluster could serve",
    Message.SLOT_NOT_BELOW: "{shape} together cannot be had on one {holder}",
    Message.GRAPH_ENDS: "no start is known before {horizon}",
    Message.HELD_THEN: "what it needs is held by another job then",
    Message.UNKNOWN_SHARED_POOL: "it holds something that no node owns, and which is not known",
    Message.GRAPH_LOST: "the cluster no longer has the resources it held",
    Message.GRAPH_CHANGED: "nodes came or went",
    Message.GRAPH_REPLACED: "the nodes of the cluster were read anew",
    Message.NOT_A_MULTIPLE: "a group with min-size or max-size must have equal pods",
    Message.ARRAY_ALL_STARTED: "all {tasks} jobs of the array were started; {running} have not "
    "ended",
    Message.ARRAY_AT_ONCE: "{running} jobs of the array are there, and it may have {at_once} at a "
    "time",
    Message.ARRAY_TASKS: "an array of {tasks} jobs: expected 1 or more",
    Message.ARRAY_AT_ONCE_RANGE: "an array with {tasks} jobs at once: expected 1 or more",
    Message.ARRAY_TASK: "number {index} of array {array}",
    Message.ARRAY_TASKS_FAILED: "{failed} of {tasks} jobs of the array did not succeed",
    Message.ARRAY_TASKS_SUCCEEDED: "all {tasks} jobs of the array succeeded",
    Message.TASKS_FAILED: "{failed} of its pods failed",
    Message.TASKS_MOVED: "pods were moved: {moves}",
    Message.COUNTABLE_AGAIN: "all waiting jobs were planned anew",
    Message.COUNTING_FELL_SHORT: "all waiting jobs were planned anew",
    Message.OTHER_KIND_CAME: "jobs of another kind came, and all were planned anew",
    Message.OTHER_KIND_LEFT: "jobs of another kind left, and all were planned anew",
    Message.GROUP_SHRANK: "a group became smaller, and all were planned anew",
    Message.CLOSED_IN_THE_WAY: "{reason}; it would fit with {nodes}, which are cordoned, not ready "
    "or not selected",
    Message.FOREIGN_IN_THE_WAY: "{reason}; it would fit without the pods that others placed on "
    "{nodes}",
    Message.CLOSED_AND_FOREIGN: "{reason}; it would fit with {nodes}, which are cordoned, "
    "not ready or not selected, and without the pods that others placed on {used}",
    Message.NO_NODE_OF_KIND: "no node matches its node selector, node affinity, tolerations and "
    "volumes",
    Message.NO_NODE_OPEN: "every node that it may use is cordoned, not ready or not selected",
    Message.NO_SUCH_TYPE: "no node has {type}",
    Message.NO_DOMAIN: "it is to be inside one {level}, and no node has a label that says in which "
    "{level} it is",
    Message.FOREIGN_MORE: "pods of other schedulers took capacity on {nodes}",
    Message.FOREIGN_LESS: "pods of other schedulers released capacity",
}
"""Messages that speak of graphs, slots and tasks where users think of nodes and pods."""


def moment_text(seconds: int) -> str:
    """A time since the epoch, for people.

    >>> moment_text(1794787200)
    '2026-11-16T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def amount_text(value: int, type: str) -> str:
    """An amount of a pool as users write it.

    >>> amount_text(16000, "cpu"), amount_text(500, "cpu"), amount_text(2048, "memory")
    ('16 cpu', '500m cpu', '2Gi memory')
    >>> amount_text(1, "port:TCP/8080")
    'host port 8080/TCP'
    """
    if type == "cpu":
        return f"{value // 1000} cpu" if value % 1000 == 0 else f"{value}m cpu"
    if type in _MEMORY or type.startswith(_HUGE_PAGES):
        whole = value and value % _MIB_IN_GIB == 0
        return f"{value // _MIB_IN_GIB}Gi {type}" if whole else f"{value}Mi {type}"
    if type.startswith(_PORT):
        return type_text(type)
    if type == _TENANCY or type.startswith(_APART):
        return "a whole node" if value == _WHOLE_NODE and type == _TENANCY else type_text(type)
    return f"{value} {type_text(type)}"


def type_text(type: str) -> str:
    """A type of the graph as users name it.

    >>> type_text("port:TCP/8080"), type_text("subnet"), type_text("nvidia.com/gpu")
    ('host port 8080/TCP', 'zone', 'nvidia.com/gpu')
    >>> type_text("level:example.com/rack")
    'rack'
    """
    if type.startswith(_PORT):
        protocol, _, number = type.removeprefix(_PORT).partition("/")
        return f"host port {number}/{protocol}"
    if type.startswith(_APART):
        return "a node apart from the pods that anti-affinity names"
    if type == _TENANCY:
        return "a share of a node"
    if type.startswith(LEVEL):
        return level_name(type)
    return _ZONES.get(type, type)


class KubernetesReasonText(ReasonText):
    """Renders reasons for users of Kubernetes; `name_of` gives the name of a job, if it has one."""

    templates: ClassVar[Mapping[Message, str]] = {**TEMPLATES, **_OTHER_WORDS}

    def __init__(self, name_of: Callable[[int], str | None] = lambda id: None) -> None:
        self._name_of = name_of

    def template(self, reason: Reason) -> str:
        args = dict(reason.args)
        match reason.message:
            case Message.POD_ON_ONE_NODE | Message.POD_FREE_ON_ONE_NODE:
                return _on_one_node(args.get("needs")) or super().template(reason)
            case Message.PODS if _says_nothing(args.get("pod")):
                return "needs {count} pods; {found} fit now"
            case Message.PODS_EVER if _says_nothing(args.get("pod")):
                return "needs {count} pods; all nodes together fit {found}"
            case Message.AFTER_JOB:
                return f"it runs after {{job}} {_AFTER.get(str(args.get('kind')), 'ended')}"
            case Message.AFTER_UNKNOWN:
                did = _AFTER.get(str(args.get("kind")), "ended")
                return f"it runs after {{name}} {did}, and nothing of that name was queued so far"
            case Message.AFTER_FAILED:
                return "it was to run after {name} succeeded, and that failed"
            case _:
                return super().template(reason)

    def named(self, name: str, value: Argument) -> str:
        if name in _NAMES_OF_TYPES and isinstance(value, str):
            return " ".join(map(_word, value.split(" ")))
        return super().named(name, value)

    def amount(self, amount: Amount) -> str:
        text = amount_text(amount.value, amount.type)
        return f"at least {text}" if amount.at_least else text

    def hours(self, hours: ResourceHours) -> str:
        """Of cpus, of GiB or of pieces, for an hour.

        >>> KubernetesReasonText().hours(ResourceHours(2500.0, "cpu"))
        '2.5 cpu-hours'
        """
        if is_bytes(hours.type):
            return f"{self.value_alone(hours)} GiB-hours of {hours.type}"
        return f"{self.value_alone(hours)} {hours.type}-hours"

    def value_alone(self, amount: Amount | ResourceHours) -> str:
        """With its unit, without which the number would say something else."""
        if isinstance(amount, Amount):
            return self.amount(amount)
        return f"{amount.value / units_of(amount.type):.1f}"

    def several(self, values: tuple[Argument, ...], separator: str) -> str:
        named = tuple(each for each in values if not is_implied(each))
        return super().several(named, separator)

    def moment(self, at: int) -> str:
        return moment_text(at)

    def job(self, id: int) -> str:
        return self._name_of(id) or super().job(id)


def _on_one_node(needs: Argument | None) -> str | None:
    """What is said of pools that are not amounts to a user."""
    if not isinstance(needs, Amount):
        return None
    if needs.type == _TENANCY:
        return _ALONE
    if needs.type.startswith(_PORT):
        return _NO_PORT
    return _NOT_APART if needs.type.startswith(_APART) else None


def _word(word: str) -> str:
    """One word that may name a type, perhaps with punctuation: `subnet[1]`, `/cluster0/subnet1`."""
    if word.startswith((_PORT, _APART, LEVEL)):
        return type_text(word)
    for type, name in (*_ZONES.items(), (_TENANCY, type_text(_TENANCY))):
        word = word.replace(type, name)
    return word


def _says_nothing(pod: Argument | None) -> bool:
    return isinstance(pod, tuple) and all(map(is_implied, pod))


def is_implied(value: Argument) -> bool:
    """Whether an amount goes without saying: a pod's slot, or that another pod's anti-affinity
    concerns it."""
    if not isinstance(value, Amount) or value.value != 1:
        return False
    return value.type in _IMPLIED or value.type.startswith(_APART)
