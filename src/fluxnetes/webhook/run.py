"""Runs the webhook: certificates, server and registration, until it is stopped.

    listener = listen("127.0.0.1", 9443)
    setting = WebhookSettings(WebhookAddress("https://127.0.0.1:9443"))
    await serve(client, FolderCertStore(folder), listener, setting, stop=stop)

At the start come the certificates, then the server, then the registration, so that the API server
never calls a webhook that does not respond. The stop has the reverse order, but the registration
stays: objects that opted in cannot be created while the webhook is down, and so never bypass the
queue.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from fluxnetes.kube.client import KubeClient
from fluxnetes.webhook.cert_store import CertStore
from fluxnetes.webhook.rotation import CertificateRotation
from fluxnetes.webhook.server import WebhookApp, WebhookServer
from fluxnetes.webhook.settings import WebhookSettings

_BACKLOG = 1024
"""Maximum connections that wait to be accepted, for instance while the process restarts."""


def listen(address: str, port: int = 0) -> socket.socket:
    """A listening socket; requests wait on it even before a server runs. Raises OSError."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it. Without it each response waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind((address, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


async def serve(
    client: KubeClient,
    store: CertStore,
    listener: socket.socket,
    setting: WebhookSettings,
    *,
    stop: asyncio.Event,
    registered: Callable[[], None] = lambda: None,
) -> None:
    """Serve until `stop`; `registered` is called after each successful registration."""
    rotation = CertificateRotation(client, store, setting)
    if not await _before(stop, rotation.prepare()):
        return
    app = WebhookApp(setting.policy)
    server = WebhookServer(app, rotation.context)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve(sockets=[listener]))
        rotating = tasks.create_task(rotation.run(registered))
        await stop.wait()
        rotating.cancel()
        app.is_ready = False
        await asyncio.sleep(setting.drain)
        server.should_exit = True


async def _before(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Whether the work was done before `stop`."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    done, others = await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    if working not in done:
        return False
    await working
    return True
