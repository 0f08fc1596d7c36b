"""What `fluxnetes up` keeps where: everything below one folder.

    plane/          the control plane and its kubeconfig (see `plane.paths`)
    store/          Postgres (see `store.places`)
    webhook/        the webhook's certificates
    logs/           what controller and webhook say; the last start's is kept as NAME.log.old
    identity        the name under which our controller leads, at every start
    cluster         whose queue this is
    ports.json      the webhook's port, which is taken again if it is free
    owner.lock      held by the process that runs all of this
    programs.lock   held by controller and webhook, as long as one of them lives

What is in the parts is for their owner alone. Root's Postgres runs as another account, which must
pass through the folder to get to its data; so root's folder can be passed, but not listed.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from fluxnetes.plane.errors import PlaneFailed
from fluxnetes.plane.paths import PlanePaths, choose_ports, write_whole
from fluxnetes.plane.processes import FolderLock
from fluxnetes.store.embedded.paths import default_folder

OWN = "a control plane of its own"
"""Whose queue it is if the cluster is ours too."""

_LONGEST_HOST = 63


@dataclass(frozen=True, slots=True)
class UpFolder:
    """The folder of one `fluxnetes up`."""

    top: Path

    @property
    def plane(self) -> Path:
        return self.top / "plane"

    @property
    def store(self) -> Path:
        return self.top / "store"

    @property
    def webhook(self) -> Path:
        return self.top / "webhook"

    def log(self, program: str) -> Path:
        return self.top / "logs" / f"{program}.log"

    def identity(self) -> str:
        """A name unlike that of any other process that lives, the same at every start.

        So a controller that starts again need not wait until its own lease has run out.
        """
        file = self.top / "identity"
        if not file.exists():
            name = f"{socket.gethostname()}-{secrets.token_hex(4)}"
            write_whole(file, f"{name}\n".encode())
        return file.read_text().strip()

    def webhook_port(self) -> int:
        """A port that is free now; that of the last start, if it is."""
        return choose_ports(PlanePaths(self.top), ("webhook",))["webhook"]

    def claim(self, cluster: str) -> None:
        """See to it that one folder has the queue of one cluster: two would mix up their jobs."""
        file = self.top / "cluster"
        if not file.exists():
            write_whole(file, f"{cluster}\n".encode())
        known = file.read_text().strip()
        if known != cluster:
            raise PlaneFailed(
                f"{self.top} has the queue of {known}, and this is {cluster}; use another --folder"
            )

    @contextmanager
    def alone(self) -> Iterator[int]:
        """Be the only one who runs it; gives the lock that programs inherit."""
        lock = FolderLock(self.top / "owner.lock", self.top / "programs.lock")
        lock.take()
        try:
            yield lock.programs
        finally:
            lock.release()


def make_folder(top: Path) -> UpFolder:
    """The folder, made if need be. One that is there keeps its permissions."""
    folder = UpFolder(top.expanduser().resolve())
    try:
        folder.top.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        folder.log("any").parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise PlaneFailed(f"{folder.top}: {error.strerror}; use another --folder") from error
    return folder


def folder_of_own() -> Path:
    """Where it goes if nobody says otherwise."""
    return default_folder() / "up"


def folder_of_cluster(server: str) -> Path:
    """The same for a cluster that exists already: one folder for each API server."""
    host = re.sub(r"[^a-zA-Z0-9.-]+", "-", urlsplit(server).hostname or "")[:_LONGEST_HOST]
    return (
        default_folder() / "clusters" / f"{host}-{hashlib.sha256(server.encode()).hexdigest()[:8]}"
    )
