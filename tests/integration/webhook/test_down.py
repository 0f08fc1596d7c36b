"""While the webhook is down: what opted in cannot be made, and nothing else is blocked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.errors import RequestRefused
from tests.integration.webhook.command import Command
from tests.integration.webhook.objects import (
    GATES,
    MANAGED,
    a_daemon_set,
    a_job,
    a_pod,
    daemon_sets,
    first_pod,
    jobs,
    pods,
)

NO_ANSWER = 'failed calling webhook "(namespaces|objects).webhook.fluxnetes.io"'


@contextmanager
def down(webhook: Command) -> Iterator[None]:
    webhook.kill()
    yield
    webhook.start()


def test_what_opted_in_cannot_be_made_until_we_are_back(
    api: PlaneApi, webhook: Command, opted_in: str, ordinary: str
) -> None:
    with down(webhook):
        for path, content in (
            (pods(opted_in), a_pod()),
            (jobs(opted_in), a_job()),
            (pods(ordinary), a_pod(metadata={"labels": MANAGED})),
        ):
            with pytest.raises(RequestRefused, match=NO_ANSWER):
                api.create(path, content)
    assert api.create(pods(opted_in), a_pod())["spec"]["schedulingGates"] == GATES


def test_everything_else_can_be_made(api: PlaneApi, webhook: Command, ordinary: str) -> None:
    with down(webhook):
        for namespace in (ordinary, "kube-system"):
            api.create(pods(namespace), a_pod("while-down"))
            api.create(jobs(namespace), a_job("while-down"))


def test_what_is_there_can_be_changed_and_deleted(
    api: PlaneApi, webhook: Command, opted_in: str
) -> None:
    api.create(pods(opted_in), a_pod())
    api.create(jobs(opted_in), a_job())
    with down(webhook):
        for path in (f"{pods(opted_in)}/a", f"{jobs(opted_in)}/a"):
            changed = api.patch(path, {"metadata": {"labels": {"changed": "yes"}}})
            assert changed["metadata"]["labels"]["changed"] == "yes"
        ungated = api.patch(f"{pods(opted_in)}/a", {"spec": {"schedulingGates": None}})
        assert "schedulingGates" not in ungated["spec"]
        bound = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "node-0"}}
        api.create(f"{pods(opted_in)}/a/binding", bound)
        api.delete(f"{pods(opted_in)}/a")


def test_jobs_and_daemon_sets_that_run_go_on(
    api: PlaneApi, webhook: Command, opted_in: str
) -> None:
    api.create(jobs(opted_in), a_job())
    with down(webhook):
        api.patch(f"{jobs(opted_in)}/a", {"spec": {"suspend": False}})
        assert first_pod(api, opted_in, "job-name=a")["spec"]["schedulerName"] == "fluxnetes"
        api.create(daemon_sets(opted_in), a_daemon_set("daemon"))
        assert first_pod(api, opted_in, "app=daemon")


def test_a_webhook_that_is_asked_to_stop_ends_well(webhook: Command) -> None:
    assert webhook.stop() == 0
