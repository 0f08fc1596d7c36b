"""A real API server that knows FluxJobs, and nobody to change things but us."""

from __future__ import annotations

import asyncio

import pytest

from fluxnetes.controller.crd import install_crd
from fluxnetes.kube.client import Client
from fluxnetes.kube.config import Access, find_access
from fluxnetes.plane.plane import ControlPlane
from tests.integration.kube.conftest import (
    binaries,
    namespace,
    plane,
    pytest_pyfunc_call,
    restart,
)

__all__ = ["binaries", "namespace", "plane", "pytest_pyfunc_call", "restart"]


@pytest.fixture(scope="session")
def taught(plane: ControlPlane) -> None:
    async def teach() -> None:
        async with Client(find_access(plane.kubeconfig)) as client:
            await install_crd(client)

    asyncio.run(teach())


@pytest.fixture
def access(plane: ControlPlane, taught: None) -> Access:
    """As an admin."""
    return find_access(plane.kubeconfig)
