"""Stores the certificates, so that all replicas and the next start use the same ones.

    SecretCertStore   in a Secret of the webhook's namespace, in a cluster
    FolderCertStore   in a file, on a single machine

Replicas check at the same time and may renew at the same time. So every write names the version
that it read; a write over another version fails, and the caller reads again.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import AlreadyExists, Conflict, NotFound
from fluxnetes.kube.objects.secrets import SECRETS
from fluxnetes.kube.patches import merge

SECRET = "fluxnetes-webhook"  # noqa: S105 - its name


@dataclass(frozen=True, slots=True)
class StoredContents:
    """Contents by name, and their version."""

    contents: Mapping[str, bytes]
    version: str = ""
    """Empty: nothing is stored."""


class CertStore(Protocol):
    """Stores a few named contents."""

    async def read(self) -> StoredContents: ...

    async def write(self, contents: Mapping[str, bytes], over: StoredContents) -> bool:
        """Replace the contents that were read; False if they have changed since."""
        ...


class SecretCertStore:
    """Stores the certificates in a Secret."""

    def __init__(self, client: KubeClient, namespace: str, name: str = SECRET) -> None:
        self._client, self._namespace, self._name = client, namespace, name

    async def read(self) -> StoredContents:
        try:
            secret = await self._client.get(SECRETS, self._name, self._namespace)
        except NotFound:
            return StoredContents({})
        contents = {name: _decode(text) for name, text in secret.data.items()}
        return StoredContents(contents, secret.metadata.resource_version)

    async def write(self, contents: Mapping[str, bytes], over: StoredContents) -> bool:
        data = {name: base64.b64encode(content).decode() for name, content in contents.items()}
        return await (self._replace(data, over.version) if over.version else self._create(data))

    async def _create(self, data: dict[str, str]) -> bool:
        content = {"metadata": {"name": self._name}, "data": data}
        try:
            await self._client.create(SECRETS, content, self._namespace)
        except AlreadyExists:
            return False
        return True

    async def _replace(self, data: dict[str, str], version: str) -> bool:
        content = {"metadata": {"resourceVersion": version}, "data": data}
        try:
            await self._client.patch(SECRETS, self._name, merge(content), self._namespace)
        except (Conflict, NotFound):
            return False
        return True


class FolderCertStore:
    """Stores the certificates in one file of a folder, readable by its owner only."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "webhook.json"

    async def read(self) -> StoredContents:
        return await asyncio.to_thread(self._read)

    async def write(self, contents: Mapping[str, bytes], over: StoredContents) -> bool:
        return await asyncio.to_thread(self._write, contents, over)

    def _read(self) -> StoredContents:
        try:
            text = self._file.read_text(errors="replace")
        except FileNotFoundError:
            return StoredContents({})
        try:
            named = msgspec.json.decode(text, type=dict[str, str])
        except (msgspec.DecodeError, RecursionError):  # not written by the webhook; to be replaced
            return StoredContents({}, text)
        return StoredContents({name: content.encode() for name, content in named.items()}, text)

    def _write(self, contents: Mapping[str, bytes], over: StoredContents) -> bool:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            if self._read().version != over.version:
                return False
            unfinished = self._file.with_suffix(".unfinished")
            unfinished.touch(mode=0o600)
            named = {name: content.decode() for name, content in contents.items()}
            unfinished.write_bytes(msgspec.json.encode(named))
            unfinished.replace(self._file)
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _decode(text: str) -> bytes:
    """Decode a value of a Secret, in which the API server accepts only base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""
