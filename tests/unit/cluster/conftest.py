"""A world of two machines."""

from __future__ import annotations

import pytest

from fluxnetes.cluster.model import World
from fluxnetes.cluster.node_graph import Machines
from tests.unit.cluster.builders import machine


@pytest.fixture
def world() -> World:
    machines = Machines()
    machines.put([machine("n1"), machine("n2")])
    return World(machines)
