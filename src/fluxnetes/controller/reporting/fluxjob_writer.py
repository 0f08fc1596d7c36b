"""Writes single FluxJobs: creates one, patches what differs, deletes one.

A FluxJob is identified by its workload's reference, in an annotation, and not by its name. The name
is for people: `train-job`. If a FluxJob of another origin has the name, ours gets another one. If
it is the FluxJob of an earlier workload of that name, which is not wanted any more, that is
deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from fluxnetes.controller.reporting.fluxjob_view import FluxJobView, fluxjob_name, spec, status
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import AlreadyExists, Conflict, NotFound
from fluxnetes.kube.objects.base import Owner
from fluxnetes.kube.objects.fluxjobs import FLUX_JOBS, FluxJob
from fluxnetes.kube.patches import merge

MANAGED_BY, US = "app.kubernetes.io/managed-by", "fluxnetes"
"""The label of our FluxJobs; those without it are never changed."""
WORKLOAD = "fluxnetes.io/workload"
"""The annotation with the reference of the workload."""


def key_of(record: FluxJob) -> str:
    """The workload's reference; empty: the FluxJob is not one of ours."""
    is_ours = record.metadata.labels.get(MANAGED_BY) == US
    return record.metadata.annotations.get(WORKLOAD, "") if is_ours else ""


def is_of_another(record: FluxJob, view: FluxJobView) -> bool:
    """Whether it is the FluxJob of an earlier workload of that name, or of an earlier run of it."""
    owners = {owner.uid for owner in record.metadata.owner_references}
    if view.owner is not None and owners and view.owner.uid not in owners:
        return True
    return record.status.end is not None and record.status.job_id != view.job_id


class FluxJobWriter:
    """Writes FluxJobs, one at a time."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self.writes = 0

    async def make(self, key: str, view: FluxJobView, is_wanted: Callable[[str], bool]) -> FluxJob:
        """Create a FluxJob without a status. It may exist already, if an answer was lost."""
        for tag in ("", key):
            name = fluxjob_name(view.name, view.kind, tag)
            made = await self._make_named(name, key, view, is_wanted)
            if made is not None:
                return made
        raise Conflict(f"the name {name} in {view.namespace} is taken by another FluxJob")

    async def update(self, record: FluxJob, view: FluxJobView, now: float) -> FluxJob:
        """Write what differs."""
        asked = _changes(record.spec, spec(view))
        if asked:
            record = await self._patch(record, {"spec": asked})
        changed = _changes(record.status, status(view, record.status, now))
        if changed:
            record = await self._patch(record, {"status": changed}, "status")
        return record

    def differs(self, record: FluxJob, view: FluxJobView, now: float) -> bool:
        """Whether there is anything to write."""
        if is_of_another(record, view):
            return True
        return record.spec != spec(view) or record.status != status(view, record.status, now)

    async def remove(self, record: FluxJob) -> None:
        """Delete this FluxJob, unless another one has its name by now."""
        self.writes += 1
        it = record.metadata
        with suppress(NotFound, Conflict):
            await self._client.delete(FLUX_JOBS, it.name, it.namespace, uid=it.uid)

    async def _make_named(
        self, name: str, key: str, view: FluxJobView, is_wanted: Callable[[str], bool]
    ) -> FluxJob | None:
        """None: another FluxJob has the name."""
        content = _content(name, key, view)
        try:
            return await self._create(content, view.namespace)
        except AlreadyExists:
            other = await self._client.get(FLUX_JOBS, name, view.namespace)
        other_key = key_of(other)
        if other_key == key:
            return other
        if not other_key or is_wanted(other_key):
            return None
        await self.remove(other)
        try:
            return await self._create(content, view.namespace)
        except AlreadyExists:  # the deletion takes time
            return None

    async def _create(self, content: Mapping[str, Any], namespace: str) -> FluxJob:
        self.writes += 1
        return await self._client.create(FLUX_JOBS, content, namespace)

    async def _patch(
        self, record: FluxJob, content: Mapping[str, Any], subresource: str = ""
    ) -> FluxJob:
        self.writes += 1
        it = record.metadata
        patch = merge({"metadata": {"uid": it.uid}, **content})
        return await self._client.patch(FLUX_JOBS, it.name, patch, it.namespace, subresource)


def _content(name: str, key: str, view: FluxJobView) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": name,
        "labels": {MANAGED_BY: US},
        "annotations": {WORKLOAD: key},
    }
    if view.owner is not None:
        metadata["ownerReferences"] = [_reference(view.owner)]
    # The type is written even if it is 0, for people who read the manifest.
    asked = {"type": int(view.kind), **msgspec.to_builtins(spec(view))}
    return {"metadata": metadata, "spec": asked}


def _reference(owner: Owner) -> dict[str, Any]:
    """An owner reference that does not block the deletion of the owner."""
    named = {"apiVersion": owner.api_version, "kind": owner.kind}
    which = {"name": owner.name, "uid": owner.uid}
    return {**named, **which, "controller": False, "blockOwnerDeletion": False}


def _changes(before: msgspec.Struct, after: msgspec.Struct) -> dict[str, Any]:
    """The merge patch that turns one into the other."""
    return _merge(msgspec.to_builtins(before), msgspec.to_builtins(after))


def _merge(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            inner = _merge(old, new)
            if inner:
                changes[key] = inner
        elif old != new:
            changes[key] = new
    return changes
