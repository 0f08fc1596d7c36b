"""Writes down all that happens to pods, Jobs, FluxJobs, nodes and leases; a process of its own.

    python -m tests.integration.crash.recorder SOCKET INTO

It reads from etcd, prints `recording` once it does, and goes on until it is ended. etcd tells every
change once, in order, and the API server may come and go meanwhile. It must keep its objects as
JSON for this.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from fluxnetes.plane.api import Object
from tests.integration.crash import record
from tests.integration.crash.record import KubeJob, Pod, Seen, Thing

RECORDING = "recording"

_FOLDERS: dict[str, Callable[[Object], Thing]] = {
    "pods": record.a_pod,
    "minions": record.a_node,
    "jobs": record.a_job,
    "fluxjobs": record.a_fluxjob,
}
"""Where the API server keeps what, below /registry."""
_LEASE = "/registry/leases/fluxnetes-system/fluxnetes"


def _reader(key: str) -> Callable[[Object], Thing] | None:
    """What reads the object of a key; None: it is not recorded."""
    if key == _LEASE:
        return record.a_lease
    # Custom objects are below their API group: /registry/jobs.example.org/fluxjobs/...
    folders = key.split("/")[2:4]
    return next((_FOLDERS[each] for each in folders if each in _FOLDERS), None)


class Recorder:
    """Turns what etcd says into lines."""

    def __init__(self) -> None:
        self._known: dict[str, Thing] = {}
        """By key: of what is removed etcd tells only that."""

    def take(self, message: Object) -> list[Seen]:
        now = time.monotonic()
        found = (self._read(event) for event in message["result"].get("events", []))
        return [Seen(version, now, thing) for version, thing in filter(None, found)]

    def _read(self, event: Object) -> tuple[int, Thing] | None:
        pair = event["kv"]
        key = b64decode(pair["key"]).decode()
        reader = _reader(key)
        if reader is None:
            return None
        before = self._known.get(key)
        thing = (
            self._removed(key) if event.get("type") == "DELETE" else self._put(key, reader, pair)
        )
        if thing == before and not isinstance(thing, Pod | KubeJob):
            return None  # a heartbeat or a renewal
        return (int(pair["mod_revision"]), thing) if thing is not None else None

    def _put(self, key: str, reader: Callable[[Object], Thing], pair: dict[str, str]) -> Thing:
        thing = self._known[key] = reader(json.loads(b64decode(pair["value"])))
        return thing

    def _removed(self, key: str) -> Thing | None:
        thing = self._known.pop(key, None)
        return None if thing is None else msgspec.structs.replace(thing, is_gone=True)


def messages(path: Path) -> Iterator[Object]:
    """What etcd says, from the beginning, for ever."""
    connection = http.client.HTTPConnection("etcd")
    connection.sock = _connect(path)
    asked: dict[str, Any] = {"key": _coded("/registry/"), "range_end": _coded("/registry0")}
    body = json.dumps({"create_request": {**asked, "start_revision": "1"}})
    connection.request("POST", "/v3/watch", body)
    yield from map(json.loads, connection.getresponse())


def _connect(path: Path) -> socket.socket:
    """By way of the open folder: the socket's own path may be too long to connect to."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        made = socket.socket(socket.AF_UNIX)
        made.connect(f"/proc/self/fd/{folder}/{path.name}")
        return made
    finally:
        os.close(folder)


def _coded(text: str) -> str:
    return b64encode(text.encode()).decode()


def main() -> None:
    path, into = map(Path, sys.argv[1:])
    recorder = Recorder()
    with into.open("wb", buffering=0) as lines:
        for message in messages(path):
            if message["result"].get("created"):
                print(RECORDING, flush=True)
            lines.write(record.write(recorder.take(message)))


if __name__ == "__main__":
    main()
