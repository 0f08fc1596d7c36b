"""Installs the definition of FluxJobs in the API server.

The definition is a manifest in this package (`manifests/fluxjobs.yaml`), which can also be applied
with kubectl. It is the same kind in the same version as Fluxqueue's, with more fields; objects that
Fluxqueue left in a cluster are kept. Fluxqueue's definition names a conversion webhook that was
never served; it is removed.
"""

from __future__ import annotations

import asyncio
import logging
from importlib.resources import files
from typing import Any

import yaml

from fluxnetes.kube.client import KubeClient, Scope
from fluxnetes.kube.errors import Forbidden, NotFound
from fluxnetes.kube.objects.definitions import DEFINITIONS
from fluxnetes.kube.objects.fluxjobs import FLUX_JOBS
from fluxnetes.kube.patches import apply, merge

HOW_TO_INSTALL = "have an administrator apply controller/manifests/fluxjobs.yaml of this package"

_CHECK_INTERVAL = 0.05
"""Seconds between two checks whether the definition is served."""
_TIMEOUT = 30.0
"""Maximum seconds until the API server serves a definition that it accepted."""

_log = logging.getLogger("fluxnetes.controller")


def manifest() -> dict[str, Any]:
    """The definition, as kubectl would apply it."""
    text = files("fluxnetes.controller").joinpath("manifests", "fluxjobs.yaml").read_text()
    content: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return content


async def install_crd(client: KubeClient) -> None:
    """Install or update the definition, and wait until it is served. Idempotent."""
    wanted = manifest()
    name = wanted["metadata"]["name"]
    await _drop_conversion(client, name)
    made = await client.patch(DEFINITIONS, name, apply(wanted))
    try:
        async with asyncio.timeout(_TIMEOUT):
            while not made.is_established:
                await asyncio.sleep(_CHECK_INTERVAL)
                made = await client.get(DEFINITIONS, name)
    except TimeoutError:
        states = [f"{c.type}={c.status} ({c.message})" for c in made.status.conditions or ()]
        raise TimeoutError(
            f"the API server accepted the definition {name} but does not serve it after "
            f"{_TIMEOUT:.0f} s: {'; '.join(states) or 'it has no conditions'}. "
            f"See `kubectl describe crd {name}`"
        ) from None


async def is_served(client: KubeClient, namespace: str) -> bool:
    """Whether the API server serves FluxJobs, tried in a namespace."""
    try:
        await client.list(FLUX_JOBS, Scope(namespace))
    except (NotFound, Forbidden):
        return False
    return True


async def _drop_conversion(client: KubeClient, name: str) -> None:
    """Remove a conversion webhook, with which the API server would refuse our definition."""
    try:
        found = await client.get(DEFINITIONS, name)
    except NotFound:
        return
    if found.spec.conversion.strategy != "None":
        _log.info("%s names a conversion webhook, as Fluxqueue's did; removing it", name)
        conversion = {"strategy": "None", "webhook": None}
        await client.patch(DEFINITIONS, name, merge({"spec": {"conversion": conversion}}))
