"""Which services a server has."""

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
USUAL = ("jobspec", "fluxcli", "external")
_ONE_NAME = frozenset({"jobspec", "podspec"})


def check_dialects(chosen: Collection[str]) -> None:
    """ValueError if they cannot be served together."""
    for name in chosen:
        if name not in DIALECTS:
            raise ValueError(f"there is no dialect {name!r}; there is {', '.join(DIALECTS)}")
    if set(chosen) >= _ONE_NAME:
        raise ValueError(
            "jobspec and podspec have the same name on the wire, fluxion.FluxionService; choose one"
        )


def services(backend: Backend, dialects: Iterable[str]) -> list[GrpcService]:
    """Our own services, and the dialects that are asked for. ValueError if they cannot be."""
    chosen = list(dict.fromkeys(dialects))
    check_dialects(chosen)
    made: dict[str, type[JobspecDialect | PodspecDialect | FluxcliDialect | ExternalDialect]] = {
        "jobspec": JobspecDialect,
        "podspec": PodspecDialect,
        "fluxcli": FluxcliDialect,
        "external": ExternalDialect,
    }
    spoken = next((name for name in chosen if name in _ONE_NAME), "")
    return [
        JobService(backend),
        ResourceService(backend, spoken),
        *(made[n](backend) for n in chosen),
    ]
