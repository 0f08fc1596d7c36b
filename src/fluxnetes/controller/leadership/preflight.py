"""Prepares the cluster before any controller can lead in it, and identifies the cluster."""

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
    """Create what a term needs, and return the uid of the cluster.

    Retries while the API server is away.
    """
    backoff = Backoff("preparing the cluster", RetryTiming())
    while True:
        try:
            await _create_missing(client, namespace)
            return await _cluster_uid(client)
        except TemporaryError as away:
            await backoff.pause(str(away))


async def _cluster_uid(client: KubeClient) -> str:
    """The uid of kube-system, which cannot be deleted, so it identifies the cluster."""
    try:
        return (await client.get(NAMESPACES, "kube-system")).metadata.uid
    except NotFound as error:  # a new API server creates it in a moment
        raise TemporaryError(str(error)) from error


async def _create_missing(client: KubeClient, namespace: str) -> None:
    """Create our namespace and the FluxJob kind; an administrator may have done so already."""
    try:
        await client.get(NAMESPACES, namespace)
    except (NotFound, Forbidden):
        with suppress(AlreadyExists, Forbidden):
            await client.create(NAMESPACES, {"metadata": {"name": namespace}})
    try:
        await install_crd(client)
    except Forbidden as error:
        if await is_served(client, namespace):
            _log.info("the definition of FluxJobs is not updated: %s", error)
        else:
            _log.warning("jobs will run, but without FluxJobs: %s; %s", error, HOW_TO_INSTALL)
