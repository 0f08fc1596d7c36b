"""Reads kubeconfig files: clusters, users, and contexts that pair them.

Several files are read as one (KUBECONFIG may name a list): of two entries with one name the first
counts, and so does the first `current-context`. Files named in an entry are looked for beside the
file that has the entry. Unknown keys are skipped, except those that would change the identity or
the server: these are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from fluxnetes.common.yaml_text import YamlError, load_yaml
from fluxnetes.kube.errors import ConfigError


class _Entry(msgspec.Struct, frozen=True, rename="kebab"):
    """A part of the file."""


class ClusterEntry(_Entry, frozen=True):
    """The address of a server, and how its certificate is verified."""

    server: str = ""
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    proxy_url: str | None = None


class ExecVariable(_Entry, frozen=True):
    """An environment variable for a plugin."""

    name: str
    value: str


class ExecEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A command that prints credentials."""

    command: str
    api_version: str
    args: tuple[str, ...] | None = None
    env: tuple[ExecVariable, ...] | None = None
    install_hint: str = ""
    interactive_mode: str = "IfAvailable"
    provide_cluster_info: bool = False


class UserEntry(_Entry, frozen=True):
    """The credentials of a user."""

    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    token: str | None = None
    token_file: str | None = msgspec.field(default=None, name="tokenFile")
    username: str | None = None
    password: str | None = None
    exec: ExecEntry | None = None
    auth_provider: dict[str, Any] | None = None
    as_user: str | None = msgspec.field(default=None, name="as")


class ContextEntry(_Entry, frozen=True):
    """A cluster, a user there, and the default namespace."""

    cluster: str
    user: str = ""
    namespace: str | None = None


class _NamedCluster(_Entry, frozen=True):
    name: str
    cluster: ClusterEntry


class _NamedUser(_Entry, frozen=True):
    name: str
    user: UserEntry | None = None


class _NamedContext(_Entry, frozen=True):
    name: str
    context: ContextEntry


class _File(_Entry, frozen=True):
    current_context: str | None = None
    clusters: tuple[_NamedCluster, ...] | None = None
    users: tuple[_NamedUser, ...] | None = None
    contexts: tuple[_NamedContext, ...] | None = None


class ChosenContext(msgspec.Struct, frozen=True):
    """One context with all that it names, and the folders that relative file names start from."""

    name: str
    context: ContextEntry
    cluster: ClusterEntry
    cluster_folder: Path
    user: UserEntry
    user_folder: Path


V = TypeVar("V")


class Kubeconfig:
    """One or more files, read as one."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self.current: str | None = None
        self._clusters: dict[str, tuple[ClusterEntry, Path]] = {}
        self._users: dict[str, tuple[UserEntry, Path]] = {}
        self._contexts: dict[str, tuple[ContextEntry, Path]] = {}
        for path in self.paths:
            self._add(_read(path), path.absolute().parent)

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names to choose from."""
        return tuple(self._contexts)

    def choose(self, name: str | None = None) -> ChosenContext:
        """The context of that name, or the current one."""
        name = name or self.current
        if not name:
            raise ConfigError(
                f"{self._where()} has no current-context; name one of {self._names(self._contexts)}"
            )
        context, _ = self._find("context", name, self._contexts)
        cluster, cluster_folder = self._find("cluster", context.cluster, self._clusters)
        user, user_folder = UserEntry(), cluster_folder
        if context.user:
            user, user_folder = self._find("user", context.user, self._users)
        return ChosenContext(name, context, cluster, cluster_folder, user, user_folder)

    def _add(self, file: _File, folder: Path) -> None:
        self.current = self.current or file.current_context
        for cluster in file.clusters or ():
            self._clusters.setdefault(cluster.name, (cluster.cluster, folder))
        for user in file.users or ():
            self._users.setdefault(user.name, (user.user or UserEntry(), folder))
        for context in file.contexts or ():
            self._contexts.setdefault(context.name, (context.context, folder))

    def _find(self, what: str, name: str, among: dict[str, tuple[V, Path]]) -> tuple[V, Path]:
        if name not in among:
            raise ConfigError(
                f"{self._where()} has no {what} {name!r}; it has {self._names(among)}"
            )
        return among[name]

    def _where(self) -> str:
        return f"the kubeconfig ({', '.join(map(str, self.paths))})"

    @staticmethod
    def _names(among: dict[str, Any]) -> str:
        return ", ".join(sorted(among)) or "none"


def _read(path: Path) -> _File:
    try:
        document = load_yaml(path.read_bytes())
        return msgspec.convert(document or {}, _File)
    except OSError as error:
        raise ConfigError(f"the kubeconfig {path} cannot be read: {error.strerror}") from None
    except YamlError as error:
        raise ConfigError(f"the kubeconfig {path} is not YAML: {error}") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"the kubeconfig {path} is not valid: {error}") from None
