"""Sees when pods are made and when they get their nodes; a process of its own, the same for all.

    python -m bench.kube_watcher KUBECONFIG PODS SECONDS INTO

Prints `watching` once it is. Ends when so many pods have nodes, or when the time is over, and
writes into a file for each pod: its node, when it was seen first, when it was seen with a node.
Both come over the same watch, so they are late by the same little bit.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from contextlib import aclosing, suppress
from pathlib import Path

from bench.kube_work import NAMESPACE
from fluxnetes.kube.backoff import Patience
from fluxnetes.kube.cache import Change, ChangeKind
from fluxnetes.kube.client import Client, Scope
from fluxnetes.kube.config import find_access
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.base import Object, Part, Resource

WATCHING = "watching"

AT_ONCE = Patience(first_pause=0.001)
"""A server whose cores are busy drops readers that lag a little; so what, go on where we were."""


class WhereTo(Part, frozen=True):
    node_name: str = ""


class Placed(Object, frozen=True):
    """A pod, of which only the node counts: little to decode, so that we take little CPU."""

    spec: WhereTo = WhereTo()


PLACED = Resource("", "v1", "pods", "Pod", Placed)


class Record:
    """What was seen when."""

    def __init__(self) -> None:
        self.created: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.nodes: dict[str, str] = {}

    def take(self, changes: list[Change[Placed]]) -> None:
        now = time.monotonic()
        for change in changes:
            name, node = change.object.metadata.name, change.object.spec.node_name
            if change.kind is ChangeKind.DELETED:
                continue
            self.created.setdefault(name, now)
            if node and name not in self.bound:
                self.bound[name], self.nodes[name] = now, node

    def told(self) -> str:
        pods = {
            name: [self.nodes.get(name), at, self.bound.get(name)]
            for name, at in self.created.items()
        }
        return json.dumps(pods)


async def follow(kubeconfig: Path, pods: int, record: Record) -> None:
    """Until all have nodes."""
    scope = Scope(namespace=NAMESPACE)
    async with (
        Client(find_access(kubeconfig)) as client,
        aclosing(Informer(client, PLACED, scope, patience=AT_ONCE).changes()) as batches,
    ):
        async for batch in batches:
            if not batch:
                print(WATCHING, flush=True)
            record.take(batch)
            if len(record.bound) >= pods:
                return


async def watch(kubeconfig: Path, pods: int, seconds: float) -> Record:
    record = Record()
    with suppress(TimeoutError):
        await asyncio.wait_for(follow(kubeconfig, pods, record), seconds)
    return record


def main() -> None:
    logging.basicConfig(level=logging.ERROR)
    kubeconfig, pods, seconds, into = sys.argv[1:]
    record = asyncio.run(watch(Path(kubeconfig), int(pods), float(seconds)))
    Path(into).write_text(record.told())


if __name__ == "__main__":
    main()
