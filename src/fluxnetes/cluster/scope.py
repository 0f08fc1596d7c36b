"""Which nodes the scheduler uses, and which foreign pods it leaves out of its count.

    node_selector: {pool: batch}              nodes with all of these labels, and no others
    ignored_pods: [{app: health-check}]       foreign pods with all labels of one of these

The names are those of Kubernetes and Volcano (`--node-selector`). Labels are matched as a pod's
`nodeSelector` matches them: every one must be there, with exactly this value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fluxnetes.kube.objects.base import Labels
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.kube.objects.pods import Pod

SCOPE_SETTINGS = ("ignored_pods", "node_selector")
"""The names of these settings in a file."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
"""The name of a label after its prefix, and its value unless that is empty."""
_PREFIX = re.compile(
    r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
)


@dataclass(frozen=True, slots=True)
class ClusterScope:
    """The nodes to use, and the pods to ignore."""

    node_selector: Labels = field(default_factory=dict)
    """A node must have all of these; without any, every node is used."""
    ignored_pods: tuple[Labels, ...] = ()
    """Foreign pods that have all labels of any of these hold nothing."""

    def uses(self, node: Node) -> bool:
        """Whether a node may be used."""
        return self.node_selector.items() <= node.metadata.labels.items()

    def ignores(self, pod: Pod) -> bool:
        """Whether a pod, if it is a foreign one, does not count as usage."""
        labels = pod.metadata.labels.items()
        return any(wanted.items() <= labels for wanted in self.ignored_pods)


WHOLE_CLUSTER = ClusterScope()
"""Every node, and every pod counts."""


def read_scope(content: Mapping[str, Any]) -> ClusterScope:
    """These settings of a file. ValueError says what is wrong where."""
    ignored = content.get("ignored_pods", [])
    if not isinstance(ignored, list):
        raise ValueError(f"ignored_pods: expected a list of labels, found {ignored!r}")
    pods = [_labels(each, f"ignored_pods[{number}]") for number, each in enumerate(ignored)]
    for number, labels in enumerate(pods):
        if not labels:  # it would be every pod
            raise ValueError(f"ignored_pods[{number}]: expected at least one label, found none")
    return ClusterScope(_labels(content.get("node_selector", {}), "node_selector"), tuple(pods))


def _labels(content: Any, path: str) -> dict[str, str]:
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected labels with a value each, found {content!r}")
    for key, value in content.items():
        if not isinstance(key, str) or not _is_key(key):
            raise ValueError(f"{path}: expected the key of a label, found {key!r}")
        if not isinstance(value, str) or not (value == "" or _NAME.fullmatch(value)):
            raise ValueError(
                f"{path}.{key}: expected the value of a label, as text in quotes, found {value!r}"
            )
    return dict(content)


def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    return bool(_NAME.fullmatch(name)) and (not slash or bool(_PREFIX.fullmatch(prefix)))
