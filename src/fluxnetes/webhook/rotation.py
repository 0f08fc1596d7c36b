"""Rotates certificates while the server serves: renews, registers and presents them.

A check has an order in which the API server never meets a certificate that it does not trust:

    1. read the stored certificates; renew those that are due, unless another replica was faster
    2. register, with all authorities that may sign
    3. present the new certificate on new connections; open ones are not affected

Checks are frequent and nearly always find nothing to do. So a change of the Secret or of the
registration by others is repaired within a minute.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from fluxnetes.common.backoff import Backoff, RetryTiming
from fluxnetes.common.certificates import SignedCertificate
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import KubeError
from fluxnetes.webhook.cert_store import CertStore
from fluxnetes.webhook.certificates import Certificates, read_certificates, renew
from fluxnetes.webhook.registration import register, registration
from fluxnetes.webhook.settings import WebhookSettings

_log = logging.getLogger("fluxnetes.webhook")


class CertificateRotation:
    """Keeps the TLS context of the server up to date."""

    def __init__(self, client: KubeClient, store: CertStore, setting: WebhookSettings) -> None:
        self._client, self._store, self._setting = client, store, setting
        self._backoff = Backoff("the webhook's certificates and registration", RetryTiming())
        self._known: Certificates | None = None
        self._presented: SignedCertificate | None = None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        """The TLS context for new connections."""

    async def prepare(self) -> None:
        """Load or create certificates, with retries until it succeeds."""
        while True:
            try:
                self._present((await self._current()).serving)
                return
            except (KubeError, OSError) as error:
                await self._backoff.pause(str(error))

    async def run(self, registered: Callable[[], None]) -> None:
        """Check repeatedly, without end; call `registered` after each successful registration."""
        while True:
            try:
                await self._check()
            except (KubeError, OSError) as error:
                await self._backoff.pause(str(error))
                continue
            self._backoff.over()
            registered()
            await asyncio.sleep(self._setting.check_interval)

    async def _check(self) -> None:
        setting = self._setting
        current = await self._current()
        content = registration(
            setting.reach, current.bundle, setting.policy, everything=setting.everything
        )
        await register(self._client, content)
        self._present(current.serving)

    async def _current(self) -> Certificates:
        setting = self._setting
        while True:
            stored = await self._store.read()
            # Deleted certificates are restored from memory: they are what the API server trusts.
            known = read_certificates(stored.contents) or self._known
            current = renew(known, setting.reach.served_as, setting.lifetimes, datetime.now(UTC))
            contents = current.contents()
            # If another replica wrote first, its certificates are read.
            if contents == stored.contents or await self._store.write(contents, stored):
                self._known = current
                return current

    def _present(self, serving: SignedCertificate) -> None:
        """Load a certificate into the context. Must run in the thread that accepts connections."""
        if serving == self._presented:
            return
        with tempfile.TemporaryDirectory(prefix="fluxnetes-") as folder:
            file = Path(folder, "serving.pem")  # the library accepts only files
            file.touch(mode=0o600)
            file.write_bytes(serving.certificate + serving.key)
            self.context.load_cert_chain(file)
        self._presented = serving
        _log.info("serving with a new certificate")
