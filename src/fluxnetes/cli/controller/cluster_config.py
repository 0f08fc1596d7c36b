"""Reads what the configuration file says about the cluster, rather than about its queues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fluxnetes.cluster.topology import DEFAULT, ClusterTopology, InvalidTopology
from fluxnetes.common.yaml_text import YamlError, load_yaml

TOPOLOGY = "topology"
CLUSTER_KEYS = frozenset({TOPOLOGY})
"""The keys of the file that are read here."""


def read_topology(path: Path | None) -> ClusterTopology:
    """The levels above the nodes; without a file, zones. ValueError says what is wrong where."""
    if path is None:
        return ClusterTopology.of(DEFAULT)
    try:
        content: Any = load_yaml(path.read_bytes())
    except YamlError as error:
        raise ValueError(f"{path} is not YAML: {error}") from None
    given = content.get(TOPOLOGY, DEFAULT) if isinstance(content, dict) else DEFAULT
    if given is not DEFAULT and not _is_list_of_texts(given):
        raise ValueError(f"{path}: {TOPOLOGY}: expected a list of node labels, found {given!r}")
    try:
        return ClusterTopology.of(given)
    except InvalidTopology as invalid:
        raise ValueError(f"{path}: {TOPOLOGY}: {invalid}") from None


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
