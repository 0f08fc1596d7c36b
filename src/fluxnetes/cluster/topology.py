"""The levels of a cluster's topology: which node labels become levels of the graph, in which order.

An administrator lists labels from the widest level to the narrowest, or presets, which are short
names for lists that are often used:

    topology: [cloud, example.com/row, example.com/rack]

A node's value of a label is its domain. Domains of a level are below those of the wider ones, so
two racks of one name in different zones are two racks. The node itself is a level, too, the
narrowest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fluxnetes.graph.levels import Place
from fluxnetes.jobspec.errors import quote

LEVEL = "level:"
"""Prefix of the types of vertices that are domains; what follows is the label."""
REGION = "topology.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
_TYPES = {ZONE: "subnet", HOSTNAME: "node"}
"""Levels whose vertices have the types that they had before there were others."""
_NAMES = {"subnet": "zone"}

_NVIDIA = "network.topology.nvidia.com/"
_FABRIC = "fabric.topograph.run/tier-"
_ACCELERATOR = "accelerator.topograph.run/"
_GKE = "cloud.google.com/gce-topology-"
_AWS = "topology.k8s.aws/network-node-layer-"

PRESETS: Mapping[str, tuple[str, ...]] = {
    "zone": (ZONE,),
    "cloud": (REGION, ZONE),
    "gke": (ZONE, f"{_GKE}block", f"{_GKE}subblock", f"{_GKE}host"),
    "aws": (ZONE, f"{_AWS}1", f"{_AWS}2", f"{_AWS}3"),
    "topograph": (f"{_FABRIC}2", f"{_FABRIC}1", f"{_FABRIC}0"),
    "accelerator": (f"{_ACCELERATOR}domain", f"{_ACCELERATOR}sub-domain"),
    "nvidia": (f"{_NVIDIA}core", f"{_NVIDIA}spine", f"{_NVIDIA}leaf", f"{_NVIDIA}accelerator"),
    "nvidia-blocks": (
        *(f"{_NVIDIA}datacenter", f"{_NVIDIA}spine", f"{_NVIDIA}block"),
        f"{_NVIDIA}accelerator",
    ),
    "clique": ("nvidia.com/gpu.clique",),
}
"""Lists of labels by name, from the widest level to the narrowest."""
DEFAULT = ("zone",)
"""The topology of a cluster of which nothing else is said."""
MOST_LEVELS = 16
"""Maximum levels: each is a row of vertices between the cluster and its nodes."""


class InvalidTopology(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A list of labels and presets that makes no levels."""


@dataclass(frozen=True, slots=True)
class ClusterTopology:
    """The labels that are levels, from the widest to the narrowest."""

    labels: tuple[str, ...]

    @classmethod
    def of(cls, items: Iterable[str]) -> ClusterTopology:
        """The levels of a list of labels and presets. Raises InvalidTopology."""
        labels: list[str] = []
        for item in items:
            if "/" not in item and item not in PRESETS:
                known = ", ".join(sorted(PRESETS))
                raise InvalidTopology(f"found {quote(item)}, expected a label or one of {known}")
            labels += PRESETS.get(item, (item,))
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            raise InvalidTopology(f"{min(twice)} is there twice")
        if HOSTNAME in labels:
            raise InvalidTopology(f"{HOSTNAME} is always the narrowest level; leave it out")
        if len(labels) > MOST_LEVELS:
            raise InvalidTopology(f"found {len(labels)} levels, expected at most {MOST_LEVELS}")
        return cls(tuple(labels))

    def place(self, labels: Mapping[str, str]) -> Place:
        """The place of a node with these labels."""
        return tuple((level_type(key), labels.get(key) or None) for key in self.labels)

    def find(self, name: str) -> str | None:
        """The type of a level by its label, or by its short name if that is clear; None: none."""
        known = (*self.labels, HOSTNAME)
        short = [key for key in known if level_name(level_type(key)) == name]
        if name in known:
            return level_type(name)
        return level_type(short[0]) if len(short) == 1 else None

    def tier(self, number: int) -> str | None:
        """The type of the level of a tier: 1 is the narrowest above the nodes; None: there are
        fewer, and the whole cluster is meant."""
        return level_type(self.labels[-number]) if 1 <= number <= len(self.labels) else None

    def names(self) -> tuple[str, ...]:
        """The labels of all levels, the nodes' included."""
        return (*self.labels, HOSTNAME)


def level_type(label: str) -> str:
    """The type of the vertices that are domains of a label."""
    return _TYPES.get(label, LEVEL + label)


def level_name(type: str) -> str:
    """What users call a level: the last word of its label.

    >>> level_name("level:example.com/rack"), level_name("subnet"), level_name("node")
    ('rack', 'zone', 'node')
    """
    return _NAMES.get(type, type.removeprefix(LEVEL).rpartition("/")[2])
