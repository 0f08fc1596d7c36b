"""Makes pods as fast as the API server takes them; a process of its own, the same for all.

    python -m bench.kube_creator KUBECONFIG PODS_FILE

The file has one pod a line, as JSON. Prints when it began.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.kube_work import NAMESPACE
from fluxnetes.kube.auth.access import find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.http.transport import Lane
from fluxnetes.kube.http.types import HttpRequest
from fluxnetes.kube.objects.pods import PODS


async def create_all(kubeconfig: Path, bodies: list[bytes]) -> None:
    """In the order given, as many at a time as there are connections."""
    waiting = iter(bodies)
    async with KubeClient(find_access(kubeconfig)) as client:
        print(time.time(), flush=True)
        await asyncio.gather(*(_create(client, waiting) for _ in range(Lane.REQUESTS.value)))


async def _create(client: KubeClient, waiting: Iterator[bytes]) -> None:
    # Not client.create: the created object is not needed, and decoding it would take CPU time from
    # the schedulers.
    path = PODS.path(NAMESPACE)
    for body in waiting:
        await client.transport.send(HttpRequest("create a pod", "POST", path, body=body))


def main() -> None:
    kubeconfig, file = map(Path, sys.argv[1:])
    asyncio.run(create_all(kubeconfig, file.read_bytes().splitlines()))


if __name__ == "__main__":
    main()
