"""The result of a simulation: when and where each job of a workload ran under one policy.

Columns have one entry for each job, in the order of the workload. `units` are the processors that a
job had, numbered through the whole cluster: nodes in order, and the processors of each in order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fluxnetes.common.arrays import Bools, Ints
from fluxnetes.simulate.workload import Workload


@dataclass(frozen=True, slots=True)
class SimulatedMachine:
    """The processors and nodes of a simulated cluster, as reports need them."""

    node: Ints
    """The number of the node of each processor."""
    names: tuple[str, ...]
    """The names of the nodes."""

    @classmethod
    def uniform(cls, nodes: int, cores: int) -> SimulatedMachine:
        """A machine of equal nodes."""
        return cls(np.repeat(np.arange(nodes), cores), tuple(f"node{n}" for n in range(nodes)))

    @property
    def processors(self) -> int:
        return len(self.node)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The run of a workload on a machine under one policy."""

    policy: str
    workload: Workload
    machine: SimulatedMachine
    start: Ints
    end: Ints
    units: tuple[Ints, ...]
    """The processors of each job, ascending."""
    seconds: float
    """How long the simulation took."""

    @property
    def wait(self) -> Ints:
        return self.start - self.workload.submit

    @property
    def nodes(self) -> Ints:
        """On how many nodes each job ran."""
        return np.array([len(np.unique(self.machine.node[u])) for u in self.units], np.int64)

    @property
    def backfilled(self) -> Bools:
        """Which jobs started while one that came earlier was waiting."""
        latest_before = np.maximum.accumulate(np.concatenate(([-1], self.start)))[:-1]
        return np.asarray(latest_before > self.start)
