"""How long the webhook takes to answer, while others compute on the same machine.

    .venv/bin/python -m bench.kube_webhook [REQUESTS]

`asked` is a review sent to the webhook by us, over one connection, as the API server keeps it.
`through` is a pod made by an API server that asks the webhook; `without` is one that it need not
ask about. All three one after the other, as dry runs. Exit status 1 if the 99th percentile of
`asked` is over 50 ms with one process that computes beside it, as our controller does in a cycle.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.components import API_SERVER, ETCD
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.webhook.process import WebhookOptions, WebhookProcess

LIMIT = 50.0
"""Milliseconds."""
BURNING = (0, 1, 2)
POD = {
    "metadata": {"name": "a"},
    "spec": {"containers": [{"name": "main", "image": "none"}]},
}


def main() -> int:
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    parts = (ETCD, API_SERVER)
    with (
        tempfile.TemporaryDirectory() as folder,
        ControlPlane(Path(folder, "plane"), 1, components=parts, fsync=False) as plane,
    ):
        return asyncio.run(_measure(plane, Path(folder, "webhook"), requests))


async def _measure(plane: ControlPlane, folder: Path, requests: int) -> int:
    slowest = 0.0
    async with WebhookProcess(WebhookOptions(plane.kubeconfig, folder)) as webhook:
        await webhook.ready.wait()
        assert webhook.process is not None
        print("times in ms; CPU is that of the webhook for one request")
        print(f"{'computing beside':18}{'what':10}{'p50':>8}{'p99':>8}{'CPU':>8}")
        for burning in BURNING:
            with _burning(burning), plane.api() as api:
                for what, send in _senders(api, webhook.port, folder, first=not burning):
                    before = _cpu(webhook.process.pid)
                    times = await asyncio.to_thread(_time, send, requests)
                    cpu = (_cpu(webhook.process.pid) - before) / requests
                    p50, p99 = (1e3 * np.percentile(times, p) for p in (50, 99))
                    print(f"{burning:<18}{what:10}{p50:8.2f}{p99:8.2f}{1e3 * cpu:8.2f}", flush=True)
                    if what == "asked" and burning == 1:
                        slowest = p99
    return int(slowest > LIMIT)


def _senders(
    api: PlaneApi, port: int, folder: Path, *, first: bool
) -> Iterator[tuple[str, Callable[[], object]]]:
    trusted = json.loads((folder / "webhook.json").read_text())["ca.crt"]
    context = ssl.create_default_context(cadata=trusted)
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)
    body = json.dumps(_review())

    def ask() -> bytes:
        connection.request("POST", "/mutate", body)
        return connection.getresponse().read()

    yield "asked", ask
    for name, labels in (("through", {"fluxnetes.io/managed": "true"}), ("without", {})):
        if first:
            api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        path = f"/api/v1/namespaces/{name}/pods?dryRun=All"
        yield name, lambda path=path: api.create(path, POD)  # type: ignore[misc]
    connection.close()


def _review() -> dict[str, object]:
    request = {
        "uid": "1",
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "namespace": "through",
        "userInfo": {"username": "bench"},
        "object": POD,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def _time(send: Callable[[], object], requests: int) -> list[float]:
    times = []
    for _ in range(requests):
        began = time.perf_counter()
        send()
        times.append(time.perf_counter() - began)
    return times


@contextmanager
def _burning(number: int) -> Iterator[None]:
    line = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(line) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _cpu(pid: int) -> float:
    """Seconds that it has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
