"""Runs the controller, and perhaps the webhook, on this machine for an existing cluster.

Only what is asked for is changed: the controller creates its namespace, its Lease and the
definition of FluxJobs, and schedules the pods that name it. A webhook is registered only if
--webhook-url says where the API server reaches it, and is unregistered at the end: a webhook that
does not answer would block the creation of Jobs and Pods that opted in.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar
from urllib.parse import urlsplit

from fluxnetes.cli.up.folder import UpFolder, folder_of_cluster, make_folder
from fluxnetes.cli.up.options import UpOptions
from fluxnetes.cli.up.services import CONTROLLER, LocalServices, controller, webhook
from fluxnetes.cli.up.show import print_cluster_usage, say
from fluxnetes.cli.up.waiting import Ended, report_ended, wait
from fluxnetes.controller.leadership.election import NAME as LEASE
from fluxnetes.kube.auth.access import ApiAccess, find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import Forbidden, KubeError, NotFound
from fluxnetes.kube.objects.leases import LEASES
from fluxnetes.kube.objects.namespaces import NAMESPACES
from fluxnetes.kube.objects.registrations import REGISTRATIONS
from fluxnetes.plane.errors import PlaneFailed
from fluxnetes.webhook.mutate import AdmissionPolicy
from fluxnetes.webhook.registration import NAME as REGISTRATION
from fluxnetes.webhook.registration import WebhookAddress, unregister
from fluxnetes.webhook.run import listen

T = TypeVar("T")

_SOON = 20.0
"""Seconds in which the controller leads unless another does; a killed leader's lease lasts 15."""
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - the API server is somewhere else


def attach(options: UpOptions) -> int:
    """Start, wait, stop. Returns the exit status."""
    access = find_access(options.kubeconfig, options.context)
    _ask(access, _check_access)
    if options.webhook_url:
        _check_url(options.webhook_url)
        _ask(access, lambda client: _check_registration(client, options.webhook_url or ""))
    folder = make_folder(options.folder or folder_of_cluster(access.server))
    with folder.alone() as lock:
        folder.claim(access.server)
        try:
            with LocalServices(folder, lock) as services:
                _start(services, folder, access, options)
                ended: Ended = wait(services.tend)
                say("stopping")
        finally:
            if options.webhook_url:
                _unregister(access)
    return report_ended(ended)


def _start(
    services: LocalServices, folder: UpFolder, access: ApiAccess, options: UpOptions
) -> None:
    assert options.kubeconfig is not None  # noqa: S101 - attach is called only with one
    kubeconfig = options.kubeconfig.resolve()
    services.start_store()
    leading = services.start(controller(folder, kubeconfig, options.context, options.config))
    try:
        leading.wait_until_ready(_SOON)
        say(f"{CONTROLLER} is ready")
    except PlaneFailed:
        if leading.status is not None:
            raise
        say(f"{_ask(access, _holder)} leads in this cluster; this controller waits for its lease")
    if url := options.webhook_url:
        address, port = _listen_address(url)
        named = {"context": options.context, "address": address, "url": url}
        services.start(webhook(folder, kubeconfig, port, **named)).wait_until_ready()
    print_cluster_usage(access.server, folder.top, url)


# --- calls to the cluster -----------------------------------------------------------------------


def _ask(access: ApiAccess, question: Callable[[KubeClient], Awaitable[T]]) -> T:
    async def ask() -> T:
        async with KubeClient(access) as client:
            return await question(client)

    return asyncio.run(ask())


async def _check_access(client: KubeClient) -> None:
    """Raise unless an API server answers and accepts the credentials; permissions show later."""
    with suppress(Forbidden, NotFound):
        await client.get(NAMESPACES, "kube-system")


async def _holder(client: KubeClient) -> str:
    with suppress(Forbidden, NotFound):
        lease = await client.get(LEASES, LEASE, AdmissionPolicy().namespace)
        return lease.spec.holder_identity or "no controller"
    return "another controller"


async def _check_registration(client: KubeClient, url: str) -> None:
    """Refuse to replace a webhook that is registered under another address."""
    try:
        found = await client.get(REGISTRATIONS, REGISTRATION)
    except NotFound:
        return
    ours = WebhookAddress(url).client_config()["url"]
    others = {each.client_config.url or "a service of the cluster" for each in found.webhooks}
    if others - {ours}:
        raise PlaneFailed(
            f"a webhook of Fluxnetes is already registered, at {', '.join(sorted(others))}; "
            "leave --webhook-url out and use that one, or delete "
            f"mutatingwebhookconfiguration {REGISTRATION}"
        )


# --- the webhook -------------------------------------------------------------------------------


def _listen_address(url: str) -> tuple[str, int]:
    """The port of the URL, on all interfaces unless its host is a loopback address."""
    parts = urlsplit(url)
    host, address = parts.hostname or "", _EVERYWHERE
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            address = host
    return address, parts.port or 443


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/"):
        raise PlaneFailed(
            f"--webhook-url is {url!r}; expected https://HOST:PORT, by which the API server "
            "reaches this machine"
        )
    address, port = _listen_address(url)
    try:
        listen(address, port).close()
    except OSError as error:
        raise PlaneFailed(
            f"the webhook cannot listen at {address}, port {port}: {error.strerror}; stop the "
            "program that listens there, or choose another port in --webhook-url"
        ) from None


def _unregister(access: ApiAccess) -> None:
    try:
        _ask(access, unregister)
    except KubeError as error:
        say(
            f"the webhook is still registered ({error}), which blocks Jobs and Pods that opted in: "
            f"kubectl delete mutatingwebhookconfiguration {REGISTRATION}"
        )
