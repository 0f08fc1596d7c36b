"""The webhook as a process that another one starts and watches over."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.plane.plane import ControlPlane
from fluxnetes.webhook.process import WebhookOptions, WebhookProcess
from tests.integration.webhook.command import Command
from tests.integration.webhook.objects import QUEUED, a_pod

PARENT = """
import asyncio, sys
from pathlib import Path
from fluxnetes.webhook.process import WebhookOptions, WebhookProcess

async def main():
    async with WebhookProcess(WebhookOptions(Path(sys.argv[1]), Path(sys.argv[2]))) as webhook:
        await webhook.ready.wait()
        print(webhook.process.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def alone(command: Command) -> None:
    """There is one registration only."""
    command.stop()


async def test_when_it_is_killed_requests_wait_until_it_is_back(
    plane: ControlPlane, access: ApiAccess, opted_in: str, tmp_path: Path
) -> None:
    async with (
        asyncio.timeout(30),
        KubeClient(access) as client,
        WebhookProcess(WebhookOptions(plane.kubeconfig, tmp_path)) as webhook,
    ):
        await webhook.ready.wait()
        first = webhook.process
        assert first is not None
        for round_ in range(2):
            assert webhook.process is not None
            webhook.process.kill()
            await webhook.process.wait()
            pod = await client.create(PODS, a_pod(f"a-{round_}"), opted_in)
            assert pod.spec.scheduling_gates[0].name == QUEUED
            await webhook.ready.wait()
        last = webhook.process
        assert last is not first
    assert last is not None and last.returncode == 0


async def test_it_takes_what_its_options_say(
    plane: ControlPlane, access: ApiAccess, ordinary: str, tmp_path: Path
) -> None:
    options = WebhookOptions(plane.kubeconfig, tmp_path, everything=True)
    async with (
        asyncio.timeout(30),
        KubeClient(access) as client,
        WebhookProcess(options) as webhook,
    ):
        await webhook.ready.wait()
        pod = await client.create(PODS, a_pod(), ordinary)
        assert pod.spec.scheduling_gates[0].name == QUEUED
        pod = await client.create(PODS, a_pod("all"), "kube-public")
        assert not pod.spec.scheduling_gates


async def test_it_never_outlives_its_parent(plane: ControlPlane, tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(plane.kubeconfig), str(tmp_path), stdout=PIPE
    )
    async with asyncio.timeout(30):
        assert parent.stdout is not None
        child = int(await parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
        await parent.wait()
        while is_alive(child):
            await asyncio.sleep(0.02)


def is_alive(pid: int) -> bool:
    """A zombie, which its parent has not waited for yet, is not alive."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
