"""Lays out the files of one `fluxnetes up`, all below one folder.

    plane/          the control plane and its kubeconfig (see `plane.paths`)
    store/          Postgres (see `store.embedded.paths`)
    webhook/        the webhook's certificates
    logs/           logs of controller and webhook, of all starts; NAME.log.old has earlier ones
    identity        the name under which the controller leads, at every start
    cluster         the cluster that the queue belongs to
    kubernetes      the version of Kubernetes that was last asked for
    ports.json      the webhook's port, used again if it is free
    owner.lock      held by the process that runs all of this
    programs.lock   held by controller and webhook, as long as one of them runs

Only the owner may read what is below. The Postgres of root runs as another account, which must pass
through the folder to its data; so a folder of root can be entered by others, but not listed.
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
from fluxnetes.plane.versions import is_older
from fluxnetes.store.embedded.paths import default_folder

OWN = "a control plane of its own"
"""The cluster that the queue belongs to, if it is the local control plane."""

_LONGEST_HOST = 63
"""Maximum characters of a host name in the name of a folder."""


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

    @property
    def _kubernetes(self) -> Path:
        return self.top / "kubernetes"

    def log(self, program: str) -> Path:
        return self.top / "logs" / f"{program}.log"

    def identity(self) -> str:
        """A unique name, the same at every start.

        So a controller that is restarted need not wait until its own lease has expired.
        """
        file = self.top / "identity"
        if not file.exists():
            name = f"{socket.gethostname()}-{secrets.token_hex(4)}"
            write_whole(file, f"{name}\n".encode())
        return file.read_text().strip()

    def webhook_port(self) -> int:
        """A free port; that of the last start if possible."""
        return choose_ports(PlanePaths(self.top), ("webhook",))["webhook"]

    def claim(self, cluster: str) -> None:
        """Refuse a folder that has the queue of another cluster: two would mix up their jobs."""
        file = self.top / "cluster"
        if not file.exists():
            write_whole(file, f"{cluster}\n".encode())
        known = file.read_text().strip()
        if known != cluster:
            raise PlaneFailed(
                f"{self.top} has the queue of {known}, not of {cluster}; use another --folder"
            )

    def choose_kubernetes(self, asked: str | None) -> str | None:
        """The minor version to run: the one asked for, else the last one that was.

        Refuses to go back: an older version cannot read all that a newer one stored.
        """
        file = self._kubernetes
        known = file.read_text().strip() if file.exists() else None
        if asked is None:
            return known
        if known is not None and is_older(asked, known):
            raise PlaneFailed(
                f"{self.top} has the data of Kubernetes {known}, which {asked} cannot read; "
                f"use --kubernetes {known} or another --folder"
            )
        return asked

    def keep_kubernetes(self, version: str) -> None:
        """Remember the minor version that runs from now on."""
        write_whole(self._kubernetes, f"{version}\n".encode())

    @contextmanager
    def alone(self) -> Iterator[int]:
        """Lock the folder for this process; gives the lock that programs inherit."""
        lock = FolderLock(self.top / "owner.lock", self.top / "programs.lock")
        lock.take()
        try:
            yield lock.programs
        finally:
            lock.release()


def make_folder(top: Path) -> UpFolder:
    """Create the folder unless it exists; an existing one keeps its permissions."""
    folder = UpFolder(top.expanduser().resolve())
    try:
        folder.top.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        folder.log("any").parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise PlaneFailed(f"{folder.top}: {error.strerror}; use another --folder") from error
    return folder


def folder_of_own() -> Path:
    """The default folder of a local control plane."""
    return default_folder() / "up"


def folder_of_cluster(server: str) -> Path:
    """The default folder for an existing cluster: one for each API server."""
    host = re.sub(r"[^a-zA-Z0-9.-]+", "-", urlsplit(server).hostname or "")[:_LONGEST_HOST]
    return (
        default_folder() / "clusters" / f"{host}-{hashlib.sha256(server.encode()).hexdigest()[:8]}"
    )
