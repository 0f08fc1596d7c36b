"""Finds the API server to use: its address, the trusted authority and the credentials.

`find_access` takes the first of
  1. the file it is given,
  2. the files that KUBECONFIG names,
  3. the service account of the pod that this process runs in,
  4. ~/.kube/config.
The result is an `ApiAccess`, which is all that a client needs. Nothing is sent to a server yet.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from fluxnetes.kube.auth.credentials import (
    READ_AGAIN,
    Credential,
    CredentialReading,
    Credentials,
    Source,
)
from fluxnetes.kube.auth.exec_plugin import ExecPlugin
from fluxnetes.kube.auth.kubeconfig import ChosenContext, ClusterEntry, Kubeconfig, UserEntry
from fluxnetes.kube.errors import ConfigError
from fluxnetes.kube.http.tls import ServerTrust

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

_PLUGIN_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """How to reach one API server, and authenticate there."""

    server: str
    """Its address, without a slash at the end."""
    credentials: Credentials
    namespace: str = "default"
    server_name: str | None = None
    """The name that its certificate must have, if not that in the address."""
    proxy: str | None = None


def find_access(kubeconfig: Path | None = None, context: str | None = None) -> ApiAccess:
    """Access to the cluster that was named, or that this machine is configured for."""
    if kubeconfig is not None:
        return from_kubeconfig([kubeconfig], context)
    named = [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    if named:
        return from_kubeconfig(_existing(named), context)
    if context is None and "KUBERNETES_SERVICE_HOST" in os.environ:
        return in_cluster()
    home = Path.home() / ".kube" / "config"
    if home.exists():
        return from_kubeconfig([home], context)
    raise ConfigError(
        f"no kubeconfig found (looked for {home}), and this process is not in a pod; "
        "name a kubeconfig, or set KUBECONFIG"
    )


def in_cluster(
    folder: Path = SERVICE_ACCOUNT, environment: Mapping[str, str] = os.environ
) -> ApiAccess:
    """Access as the service account of the pod that this process runs in."""
    try:
        host, port = environment["KUBERNETES_SERVICE_HOST"], environment["KUBERNETES_SERVICE_PORT"]
    except KeyError as missing:
        raise ConfigError(f"this process is not in a pod: {missing.args[0]} is not set") from None
    trust = ServerTrust(_text(folder / "ca.crt", "the pod's certificate authority"))
    namespace = _text(folder / "namespace", "the pod's namespace").strip()
    credentials = Credentials(_Files(UserEntry(token_file="token"), folder), trust)  # noqa: S106
    bracketed = f"[{host}]" if ":" in host else host
    return ApiAccess(f"https://{bracketed}:{port}", credentials, namespace)


def from_kubeconfig(paths: list[Path], context: str | None = None) -> ApiAccess:
    """Access by a context of kubeconfig files; by default the current one."""
    choice = Kubeconfig(paths).choose(context)
    cluster = choice.cluster
    server = cluster.server.rstrip("/")
    if not server.startswith(("https://", "http://")):
        raise ConfigError(
            f"cluster {choice.context.cluster!r} has the server {cluster.server!r}; "
            "it must begin with https:// (or http://)"
        )
    trust = _trust(cluster, choice.cluster_folder) if server.startswith("https://") else None
    return ApiAccess(
        server,
        Credentials(_source(choice), trust),
        choice.context.namespace or "default",
        cluster.tls_server_name,
        cluster.proxy_url,
    )


def _existing(named: list[Path]) -> list[Path]:
    """The files of a list that exist. If none does, the next rule might pick another cluster."""
    there = [path for path in named if path.exists()]
    if not there:
        names = ", ".join(map(str, named))
        raise ConfigError(f"KUBECONFIG names {names}, which does not exist; correct or unset it")
    return there


def _trust(cluster: ClusterEntry, folder: Path) -> ServerTrust:
    authority = None
    if cluster.certificate_authority_data:
        authority = _decoded(cluster.certificate_authority_data, "certificate-authority-data")
    elif cluster.certificate_authority:
        authority = _text(folder / cluster.certificate_authority, "certificate-authority")
    return ServerTrust(authority, verify=not cluster.insecure_skip_tls_verify)


# --- sources of credentials --------------------------------------------------------------------


def _source(choice: ChosenContext) -> Source:
    user, name = choice.user, choice.context.user
    if user.auth_provider is not None:
        raise ConfigError(
            f"user {name!r} has an auth-provider, which is not supported; use an exec plugin"
        )
    if user.as_user is not None:
        raise ConfigError(
            f"user {name!r} impersonates {user.as_user!r} (as), which is not supported; "
            "use credentials of that user"
        )
    if user.exec is not None:
        return _plugin(choice)
    return _Files(user, choice.user_folder)


def _plugin(choice: ChosenContext) -> ExecPlugin:
    entry = choice.user.exec
    assert entry is not None  # noqa: S101 - the caller checked
    name = f"the credential plugin {entry.command!r}"
    if entry.api_version not in _PLUGIN_VERSIONS:
        raise ConfigError(f"{name} has apiVersion {entry.api_version!r}; use {_PLUGIN_VERSIONS[0]}")
    if entry.interactive_mode == "Always":
        raise ConfigError(
            f"{name} needs a terminal (interactiveMode Always); use one that runs unattended"
        )
    if "/" in entry.command:
        entry = msgspec.structs.replace(entry, command=str(choice.user_folder / entry.command))
    return ExecPlugin(entry, _cluster_info(choice.cluster, choice.cluster_folder))


def _cluster_info(cluster: ClusterEntry, folder: Path) -> dict[str, Any]:
    """The cluster as passed to a plugin with `provideClusterInfo`."""
    info: dict[str, Any] = {"server": cluster.server}
    trust = _trust(cluster, folder)
    if trust.authority is not None:
        encoded = base64.b64encode(trust.authority.encode()).decode()
        info["certificate-authority-data"] = encoded
    if not trust.verify:
        info["insecure-skip-tls-verify"] = True
    if cluster.tls_server_name:
        info["tls-server-name"] = cluster.tls_server_name
    return info


class _Files:
    """A source of credentials in the kubeconfig, or in files that it names."""

    def __init__(self, user: UserEntry, folder: Path) -> None:
        self._user = user
        self._folder = folder

    async def __call__(self) -> CredentialReading:
        user = self._user
        credential = Credential(self._token(), self._certificate(), self._basic())
        in_files = user.token_file or user.client_certificate or user.client_key
        return CredentialReading(credential, READ_AGAIN if in_files else None)

    def _token(self) -> str | None:
        if self._user.token_file:
            token = _text(self._folder / self._user.token_file, "the token file").strip()
            if not token:
                raise ConfigError(f"the token file {self._folder / self._user.token_file} is empty")
            return token
        return self._user.token or None

    def _certificate(self) -> tuple[str, str] | None:
        user = self._user
        certificate = self._pem(
            user.client_certificate_data, user.client_certificate, "client-certificate"
        )
        key = self._pem(user.client_key_data, user.client_key, "client-key")
        if (certificate is None) != (key is None):
            there, missing = ("certificate", "key") if key is None else ("key", "certificate")
            raise ConfigError(f"the kubeconfig has a client-{there} but no client-{missing}")
        return None if certificate is None or key is None else (certificate, key)

    def _pem(self, data: str | None, file: str | None, name: str) -> str | None:
        if data:
            return _decoded(data, f"{name}-data")
        return _text(self._folder / file, name) if file else None

    def _basic(self) -> tuple[str, str] | None:
        user = self._user
        return (user.username, user.password or "") if user.username else None


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise ConfigError(f"{what} ({path}) cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{what} ({path}) is not text") from None


def _decoded(data: str, what: str) -> str:
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ConfigError(f"{what} in the kubeconfig is not base64 of a PEM text") from None
