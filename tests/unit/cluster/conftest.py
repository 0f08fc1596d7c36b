"""A cluster model of two nodes."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from tests.unit.cluster.builders import machine


@pytest.fixture
def model() -> ClusterModel:
    node_graph = NodeGraph()
    node_graph.put([machine("n1"), machine("n2")])
    return ClusterModel(node_graph)
