"""What a cluster must have before anybody can lead in it, and which cluster it is."""

from __future__ import annotations

import logging
from contextlib import suppress

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.controller.leadership.crd import HOW_TO_INSTALL, install_crd, is_served
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import AlreadyExists, Forbidden, NotFound, TemporaryError
from fluxnetes.kube.objects.namespaces import NAMESPACES

_log = logging.getLogger("fluxnetes.controller")


async def prepare(client: KubeClient, namespace: str) -> str:
    """Have all that a term needs, and learn which cluster this is; the server may be away for a
    while."""
    backoff = Backoff("preparing the cluster", RetryTiming())
    while True:
        try:
            await _make_what_is_missing(client, namespace)
            return await _which(client)
        except TemporaryError as away:
            await backoff.pause(str(away))


async def _which(client: KubeClient) -> str:
    """Nobody can delete kube-system, so its uid stands for the cluster."""
    try:
        return (await client.get(NAMESPACES, "kube-system")).metadata.uid
    except NotFound as error:  # a new server makes it in a moment
        raise TemporaryError(str(error)) from error


async def _make_what_is_missing(client: KubeClient, namespace: str) -> None:
    """Our namespace and our kind of object; an administrator may have made them already."""
    try:
        await client.get(NAMESPACES, namespace)
    except (NotFound, Forbidden):
        with suppress(AlreadyExists, Forbidden):
            await client.create(NAMESPACES, {"metadata": {"name": namespace}})
    try:
        await install_crd(client)
    except Forbidden as error:
        if await is_served(client, namespace):
            _log.info("the definition of FluxJobs is left as it is: %s", error)
        else:
            _log.warning("jobs will run, but without FluxJobs: %s; %s", error, HOW_TO_INSTALL)
