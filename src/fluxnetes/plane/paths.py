"""Where a control plane keeps what: everything below one folder, for its owner alone.

etcd/           the data of the cluster
etcd.sock:0     where etcd listens: the API server is its only client, and nobody else gets here
                (etcd wants an address to look as if it had a port); peer.sock:0 is unused
keys/           certificates and keys; those of the CA and of service accounts stay, the others
                are issued anew at each start
logs/           what each program says; the last start's is kept as NAME.log.old
settings/       files that programs are told to read
kubeconfig      what a client needs to get in
ports.json      the ports of the last start, which are taken again if they are free
owner.lock      held by the process that runs the plane
programs.lock   held by all programs of the plane, as long as one of them lives
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.plane.errors import PlaneFailed

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class PlanePaths:
    """The folder of one control plane."""

    top: Path

    @property
    def etcd(self) -> Path:
        return self.top / "etcd"

    @property
    def keys(self) -> Path:
        return self.top / "keys"

    @property
    def settings(self) -> Path:
        return self.top / "settings"

    @property
    def kubeconfig(self) -> Path:
        return self.top / "kubeconfig"

    @property
    def ports(self) -> Path:
        return self.top / "ports.json"

    @property
    def owner_lock(self) -> Path:
        return self.top / "owner.lock"

    @property
    def programs_lock(self) -> Path:
        return self.top / "programs.lock"

    def log(self, program: str) -> Path:
        return self.top / "logs" / f"{program}.log"


def make_places(folder: Path) -> PlanePaths:
    """Make the folders, closed to everybody else: whoever reads them is the cluster's admin."""
    places = PlanePaths(folder.expanduser().resolve())
    try:
        places.top.mkdir(parents=True, exist_ok=True)
        places.top.chmod(0o700)
        for each in (places.etcd, places.keys, places.settings, places.log("any").parent):
            each.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise PlaneFailed(f"{places.top}: {error.strerror}; use a folder of your own") from error
    return places


def choose_ports(places: PlanePaths, names: Sequence[str]) -> dict[str, int]:
    """A port for each name: that of the last start if it is free, else any that is."""
    known = json.loads(places.ports.read_text()) if places.ports.exists() else {}
    chosen: dict[str, int] = {}
    held = []
    for name in names:
        listener = _listen(known.get(name, 0)) or _listen(0)
        if listener is None:
            raise PlaneFailed(f"no port is free on {LOOPBACK}; end what takes them all")
        held.append(listener)  # until all are chosen, so that no two are the same
        chosen[name] = listener.getsockname()[1]
    for listener in held:
        listener.close()
    write_whole(places.ports, json.dumps({**known, **chosen}).encode())
    return chosen


def _listen(port: int) -> socket.socket | None:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError:
        listener.close()
        return None
    return listener


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file, for its owner alone. Nobody ever reads half of it, whoever is killed when."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.touch(mode=0o600)
    unfinished.write_bytes(content)
    unfinished.replace(path)
