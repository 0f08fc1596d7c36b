"""What users read is in their own words: no word of the graph or the queue gets into a message."""

from __future__ import annotations

import re
import string
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.reason_text import KubernetesReasonText
from fluxnetes.common.reasons import (
    Amount,
    Argument,
    JobRef,
    Message,
    Moment,
    Reason,
    ResourceHours,
)
from fluxnetes.common.reasons.text import TEMPLATES
from tests.property.controller.happenings import Happening
from tests.property.controller.scene import NODES, Scene, a_node
from tests.property.controller.scripts import ENDS, NODES_AND_OTHERS, TROUBLE, USERS, stories
from tests.property.profile import examples
from tests.unit.controller.play import Play
from tests.unit.controller.reporting.told import Told

INTERNAL = re.compile(
    r"tenancy|subnet|\bport:|\bapart:|\btasks?\b|\bgraph|\bvert(ex|ices)\b|\bslots?\b|\bseats?\b"
    r"|\bpools?\b|\blevel:|\bfootprint|\bbooking|\bjob \d|[{}]",
    re.IGNORECASE,
)
"""Words of ours that users of Kubernetes do not know, numbers of jobs, and unfilled templates."""


def check_words(text: str) -> None:
    found = INTERNAL.search(text)
    assert found is None, f"{found[0]!r} is said to users: {text}"


# -- all messages ----------------------------------------------------------------------------------

TYPES = st.sampled_from(
    [
        *("cpu", "memory", "pods", "nvidia.com/gpu", "node", "cluster", "subnet", "tenancy"),
        *("port:TCP/8080", "port:UDP/53", "apart:0123456789ab", "hugepages-2Mi"),
        "level:example.com/rack",
    ]
)
_counts = st.integers(0, 3) | st.sampled_from([1000, 2048, 16000, 1_000_000])
_amounts = st.builds(Amount, _counts, TYPES, st.booleans())
_hours = st.builds(ResourceHours, st.floats(0, 9), st.sampled_from(["cpu", "node"]))
_names = st.sampled_from(["train", "n1", "default/gpu", "user ada", "a, b", "fluxnetes.io/group"])
_jobs = st.builds(JobRef, st.integers(1, 99))
_moments = st.builds(Moment, st.integers(0, 2_000_000_000))
_paths = st.sampled_from(["/cluster0/subnet0/n1/cpu0", "/cluster0/subnet1"])
_shapes = st.lists(TYPES, min_size=1, max_size=3).map(" and ".join)

BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("needs", "have", "best", "most", "after", "before"), _amounts),
    "pod": st.lists(_amounts, max_size=4).map(tuple),
    **dict.fromkeys(("holder", "level", "type"), TYPES),
    "shape": _shapes,
    "path": _paths,
    "kind": st.sampled_from(["after", "afterok", "afterany"]),
    "job": _jobs,
    "jobs": st.lists(_jobs, min_size=1, max_size=3).map(tuple),
    **dict.fromkeys(("begin", "start", "end", "horizon"), _moments),
    **dict.fromkeys(("count", "found", "running", "failed", "index", "min", "max"), _counts),
    "types": st.just("cluster, cpu, subnet, tenancy"),
}
"""What arguments of a name are like; all others are names that users chose."""
_NESTED = ("reason", "because", "lacks", "reasons", "windows", "changes")


def _arguments(message: Message, depth: int) -> st.SearchStrategy[dict[str, Argument]]:
    parsed = string.Formatter().parse(TEMPLATES[message])
    fields = sorted(name for _, name, _, _ in parsed if name)
    inner = reasons(depth - 1) if depth else st.just(Reason.of(Message.HELD))
    known = BY_NAME | dict.fromkeys(_NESTED, inner)
    values = {name: known.get(name, _names) for name in fields if not name.endswith("_value")}
    alone = [name.removesuffix("_value") for name in fields if name.endswith("_value")]
    return st.fixed_dictionaries(values | dict.fromkeys(alone, _amounts | _hours))


def reasons(depth: int = 2) -> st.SearchStrategy[Reason]:
    """Any reason, with reasons inside it."""

    def build(message: Message) -> st.SearchStrategy[Reason]:
        return _arguments(message, depth).map(lambda args: Reason.of(message, **args))

    return st.sampled_from(Message).flatmap(build)


@given(reasons())
@examples(600)
def test_no_message_has_internal_words(reason: Reason) -> None:
    check_words(KubernetesReasonText(lambda id: f"job/train-{id}").render(reason))


# -- all that a controller says --------------------------------------------------------------------


class Listener(Told):
    """Checks every text as soon as it is reported."""

    def _on_event(self, regarding: Any, reason: str, note: str, **more: Any) -> None:
        check_words(note)

    def _on_condition(self, group: str, pods: Any, reason: str, message: str) -> None:
        check_words(message)

    def _on_want(self, key: str, view: Any) -> None:
        check_words(view.reason)


@given(stories(USERS | ENDS | NODES_AND_OTHERS | TROUBLE))
@examples(60)
def test_whatever_happens_a_controller_speaks_the_words_of_its_users(
    story: list[Happening],
) -> None:
    with Play(*map(a_node, NODES)) as play:
        scene = Scene(play)
        Listener(play)
        for happening in story:
            happening(scene)
            scene.wait(1)
