"""Creates the objects of the demo in the cluster, in an empty namespace."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from fluxnetes.cli.up.demo.workload import LABELS, NAMESPACE, DemoEntry
from fluxnetes.kube.client import KubeClient, Scope
from fluxnetes.kube.errors import NotFound
from fluxnetes.kube.objects.base import Object, Resource
from fluxnetes.kube.objects.fluxjobs import FLUX_JOBS
from fluxnetes.kube.objects.jobs import JOBS
from fluxnetes.kube.objects.namespaces import NAMESPACES
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.patches import apply

ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", Object)

_KINDS: tuple[Resource[Any], ...] = (JOBS, PODS, FLUX_JOBS)
"""What is deleted, in this order: a Job whose pods are deleted first creates new ones."""
_PAUSE = 0.1
"""Seconds between checks whether the namespace is empty."""


async def prepare(client: KubeClient) -> None:
    """Create the namespace, or empty it of an earlier demo."""
    await client.patch(NAMESPACES, NAMESPACE, apply({"metadata": {"labels": LABELS}}))
    while await _clear(client) or not await _has_account(client):
        await asyncio.sleep(_PAUSE)


async def _clear(client: KubeClient) -> bool:
    """Delete what is in the namespace; whether there was anything."""
    found = False
    for resource in _KINDS:
        listed = await client.list(resource, Scope(NAMESPACE))
        found = found or bool(listed.items)
        for each in listed.items:
            if each.metadata.deletion_timestamp is None:
                with suppress(NotFound):
                    await client.delete(resource, each.metadata.name, NAMESPACE, grace=0)
    return found


async def _has_account(client: KubeClient) -> bool:
    """Whether the default service account exists, without which no pod can be created."""
    listed = await client.list(ACCOUNTS, Scope(NAMESPACE, fields="metadata.name=default"))
    return bool(listed.items)


async def submit(client: KubeClient, entry: DemoEntry) -> None:
    """Create all objects of an entry."""
    for content in entry.objects:
        await client.create(entry.resource, content, NAMESPACE)
