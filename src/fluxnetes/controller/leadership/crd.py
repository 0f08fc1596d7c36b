"""Teaching an API server what a FluxJob is.

The definition is a manifest in this package (`manifests/fluxjobs.yaml`), which can also be applied
by hand. It is the same kind in the same version as Fluxqueue's, with more fields; what Fluxqueue
left in a cluster is taken over. Its definition names a webhook for conversion that nobody ever
served, so that goes.
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

_PAUSE = 0.05
_LONGEST = 30.0

_log = logging.getLogger("fluxnetes.controller")


def manifest() -> dict[str, Any]:
    """The definition, as kubectl would apply it."""
    text = files("fluxnetes.controller").joinpath("manifests", "fluxjobs.yaml").read_text()
    content: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return content


async def install_crd(client: KubeClient) -> None:
    """Make the server know FluxJobs, and wait until it serves them. May be done again."""
    wanted = manifest()
    name = wanted["metadata"]["name"]
    await _drop_conversion(client, name)
    made = await client.patch(DEFINITIONS, name, apply(wanted))
    try:
        async with asyncio.timeout(_LONGEST):
            while not made.is_established:
                await asyncio.sleep(_PAUSE)
                made = await client.get(DEFINITIONS, name)
    except TimeoutError:
        states = [f"{c.type}={c.status} ({c.message})" for c in made.status.conditions or ()]
        raise TimeoutError(
            f"the server took the definition {name} but does not serve it after {_LONGEST:.0f} s: "
            f"{'; '.join(states) or 'it says nothing about it'}. See `kubectl describe crd {name}`"
        ) from None


async def is_served(client: KubeClient, namespace: str) -> bool:
    """Whether the server knows FluxJobs; asked of any namespace."""
    try:
        await client.list(FLUX_JOBS, Scope(namespace))
    except (NotFound, Forbidden):
        return False
    return True


async def _drop_conversion(client: KubeClient, name: str) -> None:
    """Without this the server refuses ours: no conversion, and a webhook for it."""
    try:
        found = await client.get(DEFINITIONS, name)
    except NotFound:
        return
    if found.spec.conversion.strategy != "None":
        _log.info("%s names a conversion webhook, as Fluxqueue's did; it is taken out", name)
        conversion = {"strategy": "None", "webhook": None}
        await client.patch(DEFINITIONS, name, merge({"spec": {"conversion": conversion}}))
