"""Chooses the services of a server: `fluxnetes.v1` and the old dialects of its options."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fluxnetes.rpc.api.jobs import JobService
from fluxnetes.rpc.api.resources import ResourceService
from fluxnetes.rpc.dialects.external import ExternalDialect
from fluxnetes.rpc.dialects.fluxcli import FluxcliDialect
from fluxnetes.rpc.dialects.jobspec import JobspecDialect
from fluxnetes.rpc.dialects.podspec import PodspecDialect
from fluxnetes.rpc.handlers import GrpcService
from fluxnetes.service.backend import Backend

DIALECTS = ("jobspec", "podspec", "fluxcli", "external")
DEFAULT_DIALECTS = ("jobspec", "fluxcli", "external")
_SAME_NAME = frozenset({"jobspec", "podspec"})


def check_dialects(chosen: Collection[str]) -> None:
    """ValueError if they cannot be served together."""
    for name in chosen:
        if name not in DIALECTS:
            raise ValueError(f"there is no dialect {name!r}; choose of {', '.join(DIALECTS)}")
    if set(chosen) >= _SAME_NAME:
        raise ValueError(
            "jobspec and podspec have the same name on the wire, fluxion.FluxionService; choose one"
        )


def services(backend: Backend, dialects: Iterable[str]) -> list[GrpcService]:
    """The services of `fluxnetes.v1` and of these dialects. ValueError: they exclude each other."""
    chosen = list(dict.fromkeys(dialects))
    check_dialects(chosen)
    classes: dict[str, type[JobspecDialect | PodspecDialect | FluxcliDialect | ExternalDialect]] = {
        "jobspec": JobspecDialect,
        "podspec": PodspecDialect,
        "fluxcli": FluxcliDialect,
        "external": ExternalDialect,
    }
    spoken = next((name for name in chosen if name in _SAME_NAME), "")
    return [
        JobService(backend),
        ResourceService(backend, spoken),
        *(classes[name](backend) for name in chosen),
    ]
