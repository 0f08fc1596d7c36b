"""Runs the webhook as a process: log, API server, certificates, socket, signals."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from dataclasses import replace

from fluxnetes.cli.webhook.options import WebhookCommandOptions
from fluxnetes.kube.auth.access import ApiAccess, find_access
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import KubeError
from fluxnetes.store.embedded.paths import default_folder
from fluxnetes.webhook.cert_store import CertStore, FolderCertStore, SecretCertStore
from fluxnetes.webhook.mutate import AdmissionPolicy
from fluxnetes.webhook.registration import Reach, WebhookAddress, WebhookService
from fluxnetes.webhook.run import listen, serve
from fluxnetes.webhook.settings import WebhookSettings

_LOCAL, _EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 - a pod is reached at its own address
_DRAIN_BEHIND_SERVICE = 5.0
"""Seconds that kube-proxies and the API server may need to learn that this pod is terminating."""


def run(options: WebhookCommandOptions) -> int:
    """Serve until a signal or, with an inherited socket, the end of standard input.

    Returns the exit status.
    """
    level = logging.DEBUG if options.verbose else logging.INFO
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("fluxnetes").setLevel(level)
    try:
        access = find_access(options.kubeconfig, options.context)
        listener = _listener(options)
    except (KubeError, OSError) as error:
        sys.stderr.write(f"fluxnetes webhook: {error}\n")
        return 1
    # Imported modules are never garbage; without this a full collection walks over them, which on
    # a busy machine takes longer than an admission review may.
    gc.freeze()
    asyncio.run(_serve(options, access, listener))
    return 0


async def _serve(
    options: WebhookCommandOptions, access: ApiAccess, listener: socket.socket
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if options.socket is not None:
        loop.add_reader(0, _read_input, stop)
    ready = False

    def registered() -> None:
        nonlocal ready
        if not ready:
            ready = True
            sys.stdout.write("ready\n")
            sys.stdout.flush()

    policy = _policy(options, access)
    async with KubeClient(access) as client:
        await serve(
            client,
            _cert_store(options, client, policy),
            listener,
            _settings(options, policy, listener),
            stop=stop,
            registered=registered,
        )


def _read_input(stop: asyncio.Event) -> None:
    """Discard what comes on standard input; its end means that the parent process is gone."""
    if not os.read(0, 4096):
        asyncio.get_running_loop().remove_reader(0)
        stop.set()


def _listener(options: WebhookCommandOptions) -> socket.socket:
    if options.socket is not None:
        return socket.socket(fileno=options.socket)
    address = options.address or (_EVERYWHERE if options.service else _LOCAL)
    try:
        return listen(address, options.port)
    except OSError as error:
        raise OSError(
            f"cannot listen at {address}, port {options.port}: {error.strerror}; "
            "choose another with --address and --port"
        ) from None


def _policy(options: WebhookCommandOptions, access: ApiAccess) -> AdmissionPolicy:
    policy = AdmissionPolicy()
    namespace = options.namespace or (access.namespace if options.service else policy.namespace)
    schedulers = options.schedulers or policy.schedulers
    return replace(policy, namespace=namespace, schedulers=schedulers)


def _cert_store(
    options: WebhookCommandOptions, client: KubeClient, policy: AdmissionPolicy
) -> CertStore:
    if options.service and options.folder is None:
        return SecretCertStore(client, policy.namespace)
    return FolderCertStore(options.folder or default_folder() / "webhook")


def _settings(
    options: WebhookCommandOptions, policy: AdmissionPolicy, listener: socket.socket
) -> WebhookSettings:
    drain = _DRAIN_BEHIND_SERVICE if options.service else 0.0
    return WebhookSettings(
        _reach(options, policy, listener),
        policy,
        options.all_namespaces,
        drain=drain if options.drain is None else options.drain,
    )


def _reach(
    options: WebhookCommandOptions, policy: AdmissionPolicy, listener: socket.socket
) -> Reach:
    if options.service:
        return WebhookService(policy.namespace, options.service)
    if options.url:
        return WebhookAddress(options.url)
    host, port = listener.getsockname()[:2]
    return WebhookAddress(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")
