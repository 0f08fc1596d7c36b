"""The layout of a control plane's folder, readable by its owner only, and its ports.

etcd/           the data of the cluster
etcd.sock:0     etcd's socket, of which the API server is the only client (etcd requires an
                address that looks as if it had a port); peer.sock:0 is unused
keys/           certificates and keys; those of the CA and of service accounts stay, the others
                are issued again at each start
logs/           the output of each program; that of the last start is kept as NAME.log.old
settings/       configuration files of the programs
kubeconfig      an administrator's kubeconfig
ports.json      the ports of the last start, which are used again if they are free
owner.lock      held by the process that runs the plane
programs.lock   held by all programs of the plane, as long as one of them runs
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


def make_paths(folder: Path) -> PlanePaths:
    """Create the folders, for their owner only: their content gives an administrator's access."""
    paths = PlanePaths(folder.expanduser().resolve())
    try:
        paths.top.mkdir(parents=True, exist_ok=True)
        paths.top.chmod(0o700)
        for each in (paths.etcd, paths.keys, paths.settings, paths.log("any").parent):
            each.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise PlaneFailed(f"{paths.top}: {error.strerror}; use a folder of your own") from error
    return paths


def choose_ports(paths: PlanePaths, names: Sequence[str]) -> dict[str, int]:
    """A port for each name: that of the last start if it is free, else any free one."""
    known = json.loads(paths.ports.read_text()) if paths.ports.exists() else {}
    chosen: dict[str, int] = {}
    held = []
    for name in names:
        listener = _listen(known.get(name, 0)) or _listen(0)
        if listener is None:
            raise PlaneFailed(f"no port is free on {LOOPBACK}; stop programs that listen there")
        held.append(listener)  # until all are chosen, so that no two are the same
        chosen[name] = listener.getsockname()[1]
    for listener in held:
        listener.close()
    write_whole(paths.ports, json.dumps({**known, **chosen}).encode())
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
    """Replace a file atomically, readable by its owner only."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.touch(mode=0o600)
    unfinished.write_bytes(content)
    unfinished.replace(path)
