"""Credentials that a program hands out, as cloud providers have it.

The kubeconfig names a command. It gets a question in the variable KUBERNETES_EXEC_INFO and answers
with an `ExecCredential` on its output: a token or a certificate, and until when it is good.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from fluxnetes.kube.auth.credentials import Credential, CredentialReading
from fluxnetes.kube.auth.kubeconfig import ExecEntry
from fluxnetes.kube.errors import ConfigError

_TIMEOUT = 60.0
_EARLIER = 30.0
"""Seconds before its end at which a credential is replaced: the request must still arrive."""


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    """What the plugin gives."""

    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: datetime | None = None


class _Credential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    status: _Answer


class ExecPlugin:
    """A source of proofs that runs a command."""

    def __init__(self, entry: ExecEntry, cluster: Mapping[str, Any]) -> None:
        self._entry = entry
        self._cluster = cluster
        self._name = f"the credential plugin {entry.command!r}"

    async def __call__(self) -> CredentialReading:
        """Run the command and take what it says."""
        said = await self._run()
        try:
            credential = msgspec.json.decode(said, type=_Credential)
        except msgspec.DecodeError as error:
            raise ConfigError(f"{self._name} answered no ExecCredential: {error}") from None
        if credential.api_version != self._entry.api_version:
            raise ConfigError(
                f"{self._name} answered in {credential.api_version}, and the kubeconfig says "
                f"{self._entry.api_version}; make them agree"
            )
        return self._reading(credential.status)

    async def _run(self) -> bytes:
        process = await self._start()
        try:
            async with asyncio.timeout(_TIMEOUT):
                out, err = await process.communicate()
        except TimeoutError:
            raise ConfigError(f"{self._name} gave no answer in {_TIMEOUT:.0f} s") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            said = err.decode(errors="replace").strip() or "nothing"
            raise ConfigError(f"{self._name} failed ({process.returncode}) and said: {said}")
        return out

    async def _start(self) -> asyncio.subprocess.Process:
        entry = self._entry
        environment = {e.name: e.value for e in entry.env or ()}
        try:
            return await asyncio.create_subprocess_exec(
                entry.command,
                *(entry.args or ()),
                env={**os.environ, **environment, "KUBERNETES_EXEC_INFO": self._question()},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = f"; {entry.install_hint.strip()}" if entry.install_hint else ""
            raise ConfigError(f"{self._name} cannot be run: {error.strerror}{hint}") from None

    def _question(self) -> str:
        spec: dict[str, Any] = {"interactive": False}
        if self._entry.provide_cluster_info:
            spec["cluster"] = self._cluster
        question = {
            "apiVersion": self._entry.api_version,
            "kind": "ExecCredential",
            "spec": spec,
        }
        return msgspec.json.encode(question).decode()

    def _reading(self, answer: _Answer) -> CredentialReading:
        certificate, key = answer.client_certificate_data, answer.client_key_data
        if (certificate is None) != (key is None):
            raise ConfigError(f"{self._name} gave only one of a certificate and its key")
        if certificate is None and answer.token is None:
            raise ConfigError(f"{self._name} gave neither a token nor a certificate")
        pair = None if certificate is None or key is None else (certificate, key)
        return CredentialReading(
            Credential(answer.token, pair), _good_for(answer.expiration_timestamp)
        )


def _good_for(end: datetime | None) -> float | None:
    """Seconds; None if it has no end. At least one, lest every request runs the command."""
    if end is None:
        return None
    return max((end - datetime.now(UTC)).total_seconds() - _EARLIER, 1.0)
