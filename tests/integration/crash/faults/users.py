"""Carries a load out, in a thread of its own: users and administrators do not wait for faults."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from fluxnetes.plane.api import Object, PlaneApi
from fluxnetes.plane.nodes import NODES, NodeShape, a_node, node_name
from tests.integration.crash.faults.cluster import FaultyCluster, persist
from tests.integration.crash.faults.load import Load, NodeAction, NodeVerb, Piece, Verb
from tests.integration.crash.faults.objects import manifests, pod_names
from tests.integration.crash.manifests import JOBS, PODS, STAMP, WORK, has_ended, is_over

Step = tuple[float, Callable[[], None]]


class Users(threading.Thread):
    """Does everything in order of time, as soon as it can."""

    def __init__(self, cluster: FaultyCluster, load: Load) -> None:
        super().__init__(name="users", daemon=True)
        self._cluster, self._load = cluster, load
        self._api: PlaneApi = cluster.new_api()
        self._stamps = 0
        self._nodes = cluster.nodes
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._carry_out()
        except BaseException as failure:
            self.failure = failure
        finally:
            self._api.close()

    def _carry_out(self) -> None:
        began = time.monotonic()
        for at, step in sorted(self._steps(), key=lambda each: each[0]):
            time.sleep(max(0.0, began + at - time.monotonic()))
            step()
        self._restore_nodes()

    def _steps(self) -> list[Step]:
        steps: list[Step] = []
        for piece in self._load.pieces:
            steps.append((piece.at, partial(self._submit, piece)))
            for action in piece.actions:
                done = partial(self._act, piece, action.verb)
                steps.append((piece.at + action.after, done))
        for each in self._load.node_actions:
            steps.append((each.at, partial(self._act_on_node, each)))
        return steps

    # -- users ---------------------------------------------------------------------------------

    def _submit(self, piece: Piece) -> None:
        for path, thing in manifests(piece):
            persist(partial(self._api.create, path, thing), "AlreadyExists")

    def _act(self, piece: Piece, verb: Verb) -> None:
        match verb:
            case Verb.SUSPEND:
                self._suspend(piece, is_suspended=True)
            case Verb.RESUME:
                self._suspend(piece, is_suspended=False)
            case Verb.DELETE:
                self._remove(piece)
            case Verb.DELETE_POD:
                self._remove_pod(piece)

    def _suspend(self, piece: Piece, *, is_suspended: bool) -> None:
        self._stamps += 1
        stamp = {"annotations": {STAMP: str(self._stamps)}}
        change = {"metadata": stamp, "spec": {"suspend": is_suspended}}
        persist(partial(self._api.patch, f"{JOBS}/{piece.name}", change), "NotFound")

    def _remove(self, piece: Piece) -> None:
        """A user deletes what has not ended."""
        if piece.is_job:
            jobs = self._list(f"{JOBS}?labelSelector={quote(WORK)}%3D{piece.name}")
            if any(not has_ended(job) for job in jobs):
                one = f"{JOBS}/{piece.name}?propagationPolicy=Background"
                persist(partial(self._api.delete, one), "NotFound")
        elif any(not is_over(pod) for pod in self._pods_of(piece)):
            for name in pod_names(piece):
                persist(partial(self._api.delete, f"{PODS}/{name}"), "NotFound")

    def _remove_pod(self, piece: Piece) -> None:
        live = [pod["metadata"]["name"] for pod in self._pods_of(piece) if not is_over(pod)]
        if live:
            persist(partial(self._api.delete, f"{PODS}/{live[0]}"), "NotFound")

    def _pods_of(self, piece: Piece) -> list[Object]:
        return self._list(f"{PODS}?labelSelector={quote(WORK)}%3D{piece.name}")

    def _list(self, path: str) -> list[Object]:
        found: list[Object] = []
        persist(lambda: found.append(self._api.get(path)))
        return list(found[-1]["items"])

    # -- administrators ------------------------------------------------------------------------

    def _act_on_node(self, action: NodeAction) -> None:
        self._cluster.note(f"{action.verb.value} {node_name(action.node)}")
        self._change_node(action.verb, node_name(action.node))

    def _change_node(self, verb: NodeVerb, name: str) -> None:
        match verb:
            case NodeVerb.DELETE:
                persist(partial(self._api.delete, f"{NODES}/{name}"), "NotFound")
            case NodeVerb.CREATE:
                persist(
                    partial(self._api.create, NODES, a_node(name, NodeShape())), "AlreadyExists"
                )
            case NodeVerb.DRAIN:
                self._drain(name)
            case NodeVerb.UNCORDON:
                self._cordon(name, is_closed=False)

    def _cordon(self, name: str, *, is_closed: bool) -> None:
        change = {"spec": {"unschedulable": is_closed or None}}
        persist(partial(self._api.patch, f"{NODES}/{name}", change), "NotFound")

    def _drain(self, name: str) -> None:
        self._cordon(name, is_closed=True)
        for pod in self._list(f"{PODS}?fieldSelector=spec.nodeName%3D{name}"):
            if not is_over(pod):
                self._evict(pod["metadata"]["name"])

    def _evict(self, name: str) -> None:
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        persist(partial(self._api.create, f"{PODS}/{name}/eviction", eviction), "NotFound")

    def _restore_nodes(self) -> None:
        """All nodes as they were, so that everything can end."""
        for number in range(self._nodes):
            for verb in (NodeVerb.CREATE, NodeVerb.UNCORDON):
                self._change_node(verb, node_name(number))
