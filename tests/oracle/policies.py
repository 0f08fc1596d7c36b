"""Match policies: how candidates are scored and in which order they are taken.

A policy's name stands for options; the options can be spelled out instead, as in
`policy=low node_centric=true`. Sorting is stable: candidates with equal scores keep the order in
which the search met them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.oracle.tree import Vertex

NAMED = {
    "first": "policy=high node_centric=true stop_on_1_matches=true",
    "firstnodex": "policy=high node_centric=true node_exclusive=true stop_on_1_matches=true",
    "high": "policy=high",
    "low": "policy=low",
    "hinode": "policy=high node_centric=true",
    "lonode": "policy=low node_centric=true",
    "hinodex": "policy=high node_centric=true node_exclusive=true",
    "lonodex": "policy=low node_centric=true node_exclusive=true",
}

WORST_CLASS = 9999

T = TypeVar("T")


@dataclass(frozen=True)
class Policy:
    """What is known of a policy once its name is understood."""

    kind: str
    """high, low, locality or variation."""
    node_centric: bool = False
    node_exclusive: bool = False
    stops_early: bool = False

    def score(self, vertex: Vertex, properties: Mapping[str, str]) -> int:
        """The score of a matched vertex; larger than 0."""
        if self.kind == "variation":
            return 1 + performance_class(properties)
        return 1 + self._node_factors(vertex) + vertex.id + 1

    def _node_factors(self, vertex: Vertex) -> int:
        if not self.node_centric:
            return 0
        return sum(node_factor(above) for above in vertex.ancestors() if above.type == "node")

    def order(self, groups: Sequence[T], score: Callable[[T], int]) -> list[T]:
        """The order in which a matched vertex takes its children."""
        return sorted(groups, key=score, reverse=self.kind not in ("low", "variation"))

    def order_in_slot(self, groups: Sequence[T], score: Callable[[T], int]) -> list[T]:
        """The order in which slots are filled: low alone starts from the lowest score."""
        return sorted(groups, key=score, reverse=self.kind != "low")

    def order_on_top(
        self, groups: Sequence[T], score: Callable[[T], int], seen: set[int]
    ) -> list[T]:
        """The order in which the whole graph's candidates are taken.

        `seen` are the scores of the requests before, which are part of the runs; it grows.
        """
        if self.kind != "locality":
            return self.order(groups, score)
        seen.update(score(group) for group in groups)
        run_of = runs(seen)
        return sorted(groups, key=lambda group: run_of[score(group)], reverse=True)


def node_factor(node: Vertex) -> int:
    """What a node adds to the score of everything in it, under the node-centric policies."""
    return (node.id + 2) * 10000 + abs(node.uniq_id % 10000 - 1)


def performance_class(properties: Mapping[str, str]) -> int:
    leading_number = re.match(r"\s*[+-]?\d+", properties.get("perf_class", ""))
    if leading_number is None:
        return WORST_CLASS
    number = int(leading_number.group())
    return number if 0 <= number <= WORST_CLASS else WORST_CLASS


def runs(scores: set[int]) -> dict[int, int]:
    """Scores that follow one another without a gap form one run, named by its first score."""
    first: dict[int, int] = {}
    for score in sorted(scores):
        first[score] = first.get(score - 1, score)
    return first


def read_policy(text: str) -> Policy:
    """The policy of a name or of spelled-out options."""
    if text in ("locality", "variation"):
        return Policy(text)
    options = dict(part.split("=") for part in NAMED.get(text, text).split(" "))
    return Policy(
        kind=options["policy"],
        node_centric=options.get("node_centric") == "true",
        node_exclusive=options.get("node_exclusive") == "true",
        stops_early=options.get("stop_on_1_matches") == "true",
    )
