"""Certificates are made, published and taken up while the server serves.

A look at them goes in an order that never lets the API server meet what it does not trust:

    1. read what is kept; renew what is due, unless another replica was quicker
    2. register, with all authorities that may sign
    3. show the new certificate on new connections; those that are open stay as they are

Looks are frequent and nearly always find nothing to do. So whatever somebody does to the Secret or
to the registration is repaired within a minute.
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
    """Keeps `context` fit to serve."""

    def __init__(self, client: KubeClient, store: CertStore, setting: WebhookSettings) -> None:
        self._client, self._keeper, self._setting = client, store, setting
        self._backoff = Backoff("the webhook's certificates and registration", RetryTiming())
        self._known: Certificates | None = None
        self._shown: SignedCertificate | None = None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        """For new connections."""

    async def prepare(self) -> None:
        """Have something to show, however long that takes."""
        while True:
            try:
                self._show((await self._current()).serving)
                return
            except (KubeError, OSError) as error:
                await self._backoff.pause(str(error))

    async def run(self, registered: Callable[[], None]) -> None:
        """Look, for ever; tell when the API server has been told of us."""
        while True:
            try:
                await self._look()
            except (KubeError, OSError) as error:
                await self._backoff.pause(str(error))
                continue
            self._backoff.over()
            registered()
            await asyncio.sleep(self._setting.look_every)

    async def _look(self) -> None:
        setting = self._setting
        current = await self._current()
        content = registration(
            setting.reach, current.bundle, setting.policy, everything=setting.everything
        )
        await register(self._client, content)
        self._show(current.serving)

    async def _current(self) -> Certificates:
        setting = self._setting
        while True:
            kept = await self._keeper.read()
            # What somebody deleted is put back: it is what the API server trusts.
            known = read_certificates(kept.contents) or self._known
            current = renew(known, setting.reach.served_as, setting.lifetimes, datetime.now(UTC))
            contents = current.contents()
            # Whoever writes second reads what the first one wrote.
            if contents == kept.contents or await self._keeper.write(contents, kept):
                self._known = current
                return current

    def _show(self, serving: SignedCertificate) -> None:
        """Must run where connections are accepted, between two of them."""
        if serving == self._shown:
            return
        with tempfile.TemporaryDirectory(prefix="fluxnetes-") as folder:
            file = Path(folder, "serving.pem")  # the library reads nothing but files
            file.touch(mode=0o600)
            file.write_bytes(serving.certificate + serving.key)
            self.context.load_cert_chain(file)
        self._shown = serving
        _log.info("showing a new certificate")
