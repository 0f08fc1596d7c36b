"""A stand-in for Cluster Autoscaler and Karpenter: it counts the pods for which they buy nodes.

    with Autoscaler(stage.plane.api(), space.namespace) as autoscaler:
        ...
        autoscaler.until_it_acts_on("g-0", "g-1")

Both look at the same of each pod: it is on no node, it is neither deleted nor over, and its
condition PodScheduled is False with the reason Unschedulable. (Karpenter does not even ask whether
it is False.) They look every few seconds; this one sees every change, and forgets none, so a pod
that it `ever` acted on was one for which a real one might have bought a node.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Self

from fluxnetes.plane.api import Object, PlaneApi
from fluxnetes.plane.errors import PlaneFailed
from tests.integration.controller.space import condition, is_alive, node_of

PATIENCE = 30.0
"""Seconds in which everything here should have come, however slow the machine is."""


class Autoscaler:
    """Follows the pods of a namespace, on a connection and in a thread of its own."""

    def __init__(self, api: PlaneApi, namespace: str) -> None:
        self._api = api
        self._path = f"/api/v1/namespaces/{namespace}/pods"
        self._looked = threading.Condition()
        self._now: set[str] = set()
        self._ended = False
        self.ever: set[str] = set()
        """The names of all pods that it acted on since it started."""
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """The thread ends with its watch; the connection is not for others."""
        self._ended = True

    def _follow(self) -> None:
        try:
            for pods in self._api.follow(self._path, 10 * PATIENCE):
                self._see(pods)
                if self._ended:
                    return
        except (PlaneFailed, OSError):  # the plane is gone before this
            return

    def _see(self, pods: Mapping[str, Object]) -> None:
        with self._looked:
            self._now = {name for name, pod in pods.items() if asks_for_a_node(pod)}
            self.ever |= self._now
            self._looked.notify_all()

    def until_it_acts_on(self, *names: str) -> None:
        """It acts on just these pods."""
        self.until(lambda now: now == set(names))

    def until(self, is_so: Callable[[set[str]], bool]) -> set[str]:
        """The pods that it acts on, once they are as they should."""
        with self._looked:
            came = self._looked.wait_for(lambda: is_so(self._now), PATIENCE)
            assert came, f"it acts on {sorted(self._now)}"
            return set(self._now)


def asks_for_a_node(pod: Object) -> bool:
    """Whether Cluster Autoscaler or Karpenter would buy a node for a pod."""
    said = condition(pod, "PodScheduled")
    is_unschedulable = said["status"] == "False" and said.get("reason") == "Unschedulable"
    return is_unschedulable and is_alive(pod) and not node_of(pod)
