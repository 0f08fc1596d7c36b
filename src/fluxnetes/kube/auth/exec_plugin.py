"""Credentials from an exec plugin, a command that the kubeconfig names.

The command gets its input in the variable KUBERNETES_EXEC_INFO and prints an `ExecCredential`: a
token or a certificate, and when it expires. Cloud providers supply such commands.
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
"""Maximum seconds that a plugin may run."""
_RENEW_BEFORE = 30.0
"""Seconds before its expiry at which a credential is replaced: requests take time to arrive."""


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    """The status of an ExecCredential."""

    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: datetime | None = None


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    status: _Status


class ExecPlugin:
    """A source of credentials that runs a command."""

    def __init__(self, entry: ExecEntry, cluster: Mapping[str, Any]) -> None:
        self._entry = entry
        self._cluster = cluster
        self._name = f"the credential plugin {entry.command!r}"

    async def __call__(self) -> CredentialReading:
        """Run the command and read its output."""
        output = await self._run()
        try:
            credential = msgspec.json.decode(output, type=_ExecCredential)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ConfigError(f"{self._name} did not print an ExecCredential: {error}") from None
        if credential.api_version != self._entry.api_version:
            raise ConfigError(
                f"{self._name} printed {credential.api_version}, and the kubeconfig has "
                f"{self._entry.api_version}; make them agree"
            )
        return self._reading(credential.status)

    async def _run(self) -> bytes:
        process = await self._start()
        try:
            async with asyncio.timeout(_TIMEOUT):
                out, err = await process.communicate()
        except TimeoutError:
            raise ConfigError(f"{self._name} did not end within {_TIMEOUT:.0f} s") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            message = err.decode(errors="replace").strip() or "no error output"
            raise ConfigError(f"{self._name} failed (status {process.returncode}): {message}")
        return out

    async def _start(self) -> asyncio.subprocess.Process:
        entry = self._entry
        environment = {e.name: e.value for e in entry.env or ()}
        try:
            return await asyncio.create_subprocess_exec(
                entry.command,
                *(entry.args or ()),
                env={**os.environ, **environment, "KUBERNETES_EXEC_INFO": self._input()},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = f"; {entry.install_hint.strip()}" if entry.install_hint else ""
            raise ConfigError(f"{self._name} cannot be run: {error.strerror}{hint}") from None

    def _input(self) -> str:
        spec: dict[str, Any] = {"interactive": False}
        if self._entry.provide_cluster_info:
            spec["cluster"] = self._cluster
        document = {
            "apiVersion": self._entry.api_version,
            "kind": "ExecCredential",
            "spec": spec,
        }
        return msgspec.json.encode(document).decode()

    def _reading(self, status: _Status) -> CredentialReading:
        certificate, key = status.client_certificate_data, status.client_key_data
        if (certificate is None) != (key is None):
            raise ConfigError(f"{self._name} printed only one of a certificate and its key")
        if certificate is None and status.token is None:
            raise ConfigError(f"{self._name} printed neither a token nor a certificate")
        pair = None if certificate is None or key is None else (certificate, key)
        return CredentialReading(
            Credential(status.token, pair), _valid_for(status.expiration_timestamp)
        )


def _valid_for(end: datetime | None) -> float | None:
    """Seconds of validity; None: no expiry. At least 1, or every request would run the command."""
    if end is None:
        return None
    return max((end - datetime.now(UTC)).total_seconds() - _RENEW_BEFORE, 1.0)
