"""How many pods a second one process binds, on a real API server that shares the machine.

    .venv/bin/python -m bench.kube_binds [PODS]

Nodes without a kubelet, etcd without fsync, no other client but an informer, which watches the pods
all the while as it does in the controller. The time goes from the first bind until the informer has
reported the last one.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

from fluxnetes.kube.auth.access import find_access
from fluxnetes.kube.cache import ObjectChange
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.informer import Informer
from fluxnetes.kube.objects.pods import PODS, Pod
from fluxnetes.plane.components import API_SERVER, ETCD
from fluxnetes.plane.plane import ControlPlane

ROUNDS = 3
NODES = 100
AT_ONCE = 64
"""Requests that we start at a time; how many are on their way the lanes decide."""

A = TypeVar("A")
Batches = AsyncGenerator[list[ObjectChange[Pod]], None]


def main() -> None:
    pods = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    parts = (ETCD, API_SERVER)
    # Without controllers no service accounts are created for the pods.
    extra = {API_SERVER: ("--disable-admission-plugins=ServiceAccount",)}
    with (
        tempfile.TemporaryDirectory() as folder,
        ControlPlane(Path(folder), NODES, components=parts, fsync=False, extra=extra) as plane,
    ):
        asyncio.run(_measure(plane.kubeconfig, pods))


async def _measure(kubeconfig: Path, pods: int) -> None:
    print(f"{'round':>5}{'created a second':>20}{'bound a second':>20}{'our CPU a bind':>20}")
    async with (
        KubeClient(find_access(kubeconfig)) as client,
        aclosing(Informer(client, PODS).changes()) as batches,
    ):
        await anext(batches)
        for number in range(ROUNDS):
            created = await _create(client, number, pods)
            made = await _collect(batches, pods)
            bound, cpu = await _bind(client, made, batches)
            print(f"{number:5}{created:20.0f}{bound:20.0f}{1e6 * cpu:17.0f} us", flush=True)


async def _create(client: KubeClient, number: int, pods: int) -> float:
    spec = {"schedulerName": "fluxnetes", "containers": [{"name": "main", "image": "none"}]}

    async def create(name: str) -> None:
        await client.create(PODS, {"metadata": {"name": name}, "spec": spec}, "default")

    began = time.perf_counter()
    await _all(create, (f"pod-{number}-{n}" for n in range(pods)))
    return pods / (time.perf_counter() - began)


async def _bind(client: KubeClient, pods: list[Pod], batches: Batches) -> tuple[float, float]:
    async def bind(numbered: tuple[int, Pod]) -> None:
        number, pod = numbered
        node, who = f"node-{number % NODES}", pod.metadata
        await client.bind(who.name, who.namespace, uid=who.uid, node=node, annotations={"a": "b"})

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(_all(bind, enumerate(pods)), _collect(batches, len(pods)))
    return len(pods) / (time.perf_counter() - began), (time.process_time() - cpu) / len(pods)


async def _collect(batches: Batches, pods: int) -> list[Pod]:
    """The pods of the next so many changes."""
    changed: list[Pod] = []
    while len(changed) < pods:
        changed += [change.object for change in await anext(batches)]
    return changed


async def _all(work: Callable[[A], Awaitable[None]], items: Iterable[A]) -> None:
    """Do it with each, so many at a time."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))


if __name__ == "__main__":
    main()
