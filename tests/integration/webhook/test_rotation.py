"""Certificates that change while requests come, and replicas that share them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509

from fluxnetes.kube.auth.access import ApiAccess
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import ServerError
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.objects.registrations import REGISTRATIONS
from fluxnetes.kube.objects.secrets import SECRETS
from fluxnetes.kube.patches import merge
from fluxnetes.webhook.cert_store import SECRET, CertStore, FolderCertStore, SecretCertStore
from fluxnetes.webhook.certificates import Lifetimes
from fluxnetes.webhook.mutate import AdmissionPolicy
from fluxnetes.webhook.registration import (
    NAME,
    WebhookAddress,
    WebhookService,
    register,
    registration,
    unregister,
)
from fluxnetes.webhook.run import listen, serve
from fluxnetes.webhook.settings import WebhookSettings
from tests.integration.webhook.command import Command
from tests.integration.webhook.objects import a_pod

SHORT = Lifetimes(
    authority=timedelta(seconds=10), serving=timedelta(seconds=3), settle=timedelta(seconds=0.5)
)


@pytest.fixture(autouse=True)
def alone(command: Command) -> None:
    """There is one registration only."""
    command.stop()


class Replica:
    """A webhook within the test."""

    def __init__(self, client: KubeClient, store: CertStore, lifetimes: Lifetimes) -> None:
        self._listener = listen("127.0.0.1")
        self.port: int = self._listener.getsockname()[1]
        self._setting = WebhookSettings(
            WebhookAddress(f"https://127.0.0.1:{self.port}"),
            lifetimes=lifetimes,
            check_interval=0.1,
            drain=0.5,
        )
        self._client, self._keeper = client, store
        self.stop, self.registered = asyncio.Event(), asyncio.Event()

    async def run(self) -> None:
        await serve(
            self._client,
            self._keeper,
            self._listener,
            self._setting,
            stop=self.stop,
            registered=self.registered.set,
        )


@asynccontextmanager
async def replica(
    client: KubeClient, store: CertStore, lifetimes: Lifetimes = SHORT
) -> AsyncIterator[Replica]:
    made = Replica(client, store, lifetimes)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(made.run())
        await asyncio.wait_for(made.registered.wait(), 20)
        try:
            yield made
        finally:
            made.stop.set()


async def bundle(client: KubeClient) -> bytes:
    """The authority that the registration tells the API server to trust."""
    found = await client.get(REGISTRATIONS, NAME)
    (trusted,) = {webhook.client_config.ca_bundle for webhook in found.webhooks}
    return base64.b64decode(trusted)


async def shown_to(trusted: bytes, port: int) -> bytes:
    """The certificate shown to a client that trusts this authority; fails if another signed it."""
    context = ssl.create_default_context(cadata=trusted.decode())
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    certificate: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return certificate


def signer(certificate: bytes) -> bytes:
    """Which authority signed it."""
    found = x509.load_der_x509_certificate(certificate).extensions.get_extension_for_class(
        x509.AuthorityKeyIdentifier
    )
    assert found.value.key_identifier
    return found.value.key_identifier


async def make_pods(client: KubeClient, namespace: str, prefix: str, until: asyncio.Event) -> int:
    """One after the other; how many."""
    made = 0
    while not until.is_set():
        pod = await client.create(PODS, a_pod(f"{prefix}-{made}"), namespace)
        assert pod.spec.scheduler_name == "fluxnetes"
        made += 1
    return made


async def test_rotation_under_load_loses_no_request(
    access: ApiAccess, opted_in: str, tmp_path: Path
) -> None:
    certificates: set[bytes] = set()
    seen = asyncio.Event()
    async with (
        asyncio.timeout(30),
        KubeClient(access) as client,
        replica(client, FolderCertStore(tmp_path)) as webhook,
        asyncio.TaskGroup() as tasks,
    ):
        making = [tasks.create_task(make_pods(client, opted_in, each, seen)) for each in "abc"]
        while len({signer(each) for each in certificates}) < 2:
            certificates.add(await shown_to(await bundle(client), webhook.port))
        seen.set()
    assert sum(each.result() for each in making) > 50
    assert len(certificates) >= 4


async def test_a_registration_that_was_edited_is_restored(
    access: ApiAccess, opted_in: str, tmp_path: Path
) -> None:
    spoiled = merge({"webhooks": []})
    async with KubeClient(access) as client, replica(client, FolderCertStore(tmp_path)):
        await client.patch(REGISTRATIONS, NAME, spoiled)
        async with asyncio.timeout(10):
            while len((await client.get(REGISTRATIONS, NAME)).webhooks) != 2:
                await asyncio.sleep(0.02)


async def test_replicas_share_one_secret(access: ApiAccess, ordinary: str) -> None:
    async with KubeClient(access) as client:
        keepers = [SecretCertStore(client, ordinary) for _ in range(2)]
        async with (
            replica(client, keepers[0], Lifetimes()) as one,
            replica(client, keepers[1], Lifetimes()) as other,
        ):
            trusted = await bundle(client)
            seen = {await shown_to(trusted, each.port) for each in (one, other)}
        assert len(seen) == 1
        secret = await client.get(SECRETS, SECRET, ordinary)
        assert base64.b64decode(secret.data["ca.crt"]) == trusted


async def test_of_two_who_write_a_secret_at_once_one_wins(access: ApiAccess, ordinary: str) -> None:
    async with KubeClient(access) as client:
        store = SecretCertStore(client, ordinary)
        for content in (b"first", b"second"):  # it is made, then replaced
            kept = await store.read()
            writes = (store.write({who: content}, kept) for who in ("one", "other"))
            assert sorted(await asyncio.gather(*writes)) == [False, True]


async def test_a_deleted_secret_is_put_back(
    access: ApiAccess, opted_in: str, ordinary: str
) -> None:
    async with KubeClient(access) as client, replica(client, SecretCertStore(client, ordinary)):
        before = await client.get(SECRETS, SECRET, ordinary)
        await client.delete(SECRETS, SECRET, ordinary)
        async with asyncio.timeout(10):
            while (after := await SecretCertStore(client, ordinary).read()).version == "":
                await asyncio.sleep(0.02)
        await client.create(PODS, a_pod(), opted_in)
    assert after.contents["ca.crt"] == base64.b64decode(before.data["ca.crt"])


async def test_a_webhook_that_may_not_keep_its_certificates_says_so_and_can_be_stopped(
    access: ApiAccess, caplog: pytest.LogCaptureFixture
) -> None:
    async with KubeClient(access) as client:
        made = Replica(client, SecretCertStore(client, "no-such-namespace"), SHORT)
        async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
            tasks.create_task(made.run())
            while "no-such-namespace" not in caplog.text:
                await asyncio.sleep(0.02)
            made.stop.set()


async def test_one_that_stops_takes_its_leave_first(access: ApiAccess, tmp_path: Path) -> None:
    async def status(path: str) -> int:
        async with session.get(f"https://127.0.0.1:{webhook.port}{path}", ssl=False) as answer:
            return answer.status

    async with (
        KubeClient(access) as client,
        aiohttp.ClientSession() as session,
        replica(client, FolderCertStore(tmp_path)) as webhook,
    ):
        assert await status("/readyz") == 200
        webhook.stop.set()
        await asyncio.sleep(0)
        assert await status("/readyz") == 503
        assert await status("/healthz") == 200


async def test_the_api_server_takes_what_a_webhook_behind_a_service_tells_it(
    access: ApiAccess, ordinary: str, opted_in: str
) -> None:
    content = registration(
        WebhookService(ordinary), b"", AdmissionPolicy(ordinary), everything=False
    )
    async with KubeClient(access) as client:
        await register(client, content)
        with pytest.raises(ServerError, match=f"fluxnetes-webhook.{ordinary}.svc"):
            await client.create(PODS, a_pod(), opted_in)
        await unregister(client)
        await unregister(client)
        assert not (await client.create(PODS, a_pod(), opted_in)).spec.scheduling_gates
