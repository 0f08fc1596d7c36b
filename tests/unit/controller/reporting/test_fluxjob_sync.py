"""Races of FluxJobs with the watch; what a real API server does is in tests/integration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from fluxnetes.controller.reporting.fluxjob_sync import FluxJobSync
from fluxnetes.controller.reporting.fluxjob_view import FluxJobView
from fluxnetes.controller.reporting.throttle import WriteThrottle
from fluxnetes.kube.cache import ChangeKind, ObjectChange
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.fluxjobs import FluxJob, Wrapped
from fluxnetes.queue.states import JobState

KEY = "Job/a"


class QuickWatch:
    """A server whose watch reports that a user deleted the first FluxJob before a patch returns."""

    def __init__(self) -> None:
        self.sync = FluxJobSync(cast(KubeClient, self), WriteThrottle())
        self.created = 0
        self._object = FluxJob()

    async def create(self, _: object, content: Mapping[str, Any], namespace: str) -> FluxJob:
        self.created += 1
        uid, version = f"uid-{self.created}", str(self.created)
        metadata = {**content["metadata"], "namespace": namespace, "uid": uid}
        made = {**content, "metadata": {**metadata, "resourceVersion": version}}
        self._object = msgspec.convert(made, FluxJob)
        return self._object

    async def patch(self, *_: object) -> FluxJob:
        if self.created == 1:
            self.sync._observe(ObjectChange(ChangeKind.DELETED, self._object))
        return self._object


async def test_a_fluxjob_that_is_deleted_while_it_is_written_is_created_again() -> None:
    server = QuickWatch()
    server.sync.want(KEY, FluxJobView("default", "a", Wrapped.JOB, JobState.RUNNING))
    await server.sync._sync(KEY)
    assert not server.sync.is_synced()
    await server.sync._sync(KEY)
    assert server.created == 2
