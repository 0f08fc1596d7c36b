"""An API server and its etcd, and nothing else that changes objects."""

from __future__ import annotations

from pathlib import Path

from fluxnetes.plane.binaries import PlaneBinaries
from fluxnetes.plane.components import API_SERVER, ETCD
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.plane.versions import DEFAULT, native_group_arguments


def server_arguments(kubernetes: str = DEFAULT) -> tuple[str, ...]:
    """For an API server of tests: pods without service accounts, and native PodGroups."""
    # Without controllers, or before they have seen a namespace, there are no service accounts.
    return ("--disable-admission-plugins=ServiceAccount", *native_group_arguments(kubernetes))


def a_bare_plane(
    folder: Path, binaries: PlaneBinaries, kubernetes: str = DEFAULT, nodes: int = 2
) -> ControlPlane:
    """A control plane without controllers, scheduler and kubelets; not started yet."""
    return ControlPlane(
        folder,
        nodes=nodes,
        components=(ETCD, API_SERVER),
        fsync=False,
        extra={API_SERVER: server_arguments(kubernetes)},
        binaries=binaries,
    )
