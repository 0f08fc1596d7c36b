"""A way to the API server on which requests can be stopped: refused, or done without an answer.

It stands between the controller and the real server, in a thread of its own, and passes on whatever
no rule is about. So a test can act between a decision of ours and the bind that follows from it.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import aiohttp
import yaml
from aiohttp import web

from fluxnetes.plane.certificates import PlaneCertificate
from fluxnetes.plane.plane import ControlPlane

_HOP = {"connection", "transfer-encoding", "host", "content-length"}
PATIENCE = 30.0


@dataclass(eq=False)
class Rule:
    """What becomes of some requests."""

    method: str
    path: re.Pattern[str]
    drops: bool
    """Done, but not answered; else refused without being done."""
    times: int | None = None
    """How often; None: as long as the rule is there."""
    hit: threading.Event = field(default_factory=threading.Event)

    def applies(self, request: web.BaseRequest) -> bool:
        if request.method != self.method or not self.path.search(request.path):
            return False
        if self.times is not None:
            if not self.times:
                return False
            self.times -= 1
        return True

    def until_hit(self) -> None:
        """Until a request came for which it was made."""
        assert self.hit.wait(PATIENCE), f"no {self.method} {self.path.pattern} ever came"


class Proxy:
    """One proxy, as long as it is entered."""

    def __init__(
        self, plane: ControlPlane, folder: Path, client: PlaneCertificate | None = None
    ) -> None:
        """All requests are sent as this client, whichever client asks; without: as the admin."""
        keys = plane.paths.keys
        client = client or PlaneCertificate(keys / "admin.crt", keys / "admin.key")
        self.kubeconfig = folder / "proxied.kubeconfig"
        self._server = plane.server
        self._trust = ssl.create_default_context(cafile=keys / "ca.crt")
        self._trust.load_cert_chain(client.certificate, client.key)
        self._rules: list[Rule] = []
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._run()])

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self._loop.close()

    # -- rules ---------------------------------------------------------------------------------

    @contextmanager
    def refusing(self, method: str, path: str) -> Iterator[Rule]:
        """Refuse such requests as a server does that is overloaded."""
        yield from self._with(Rule(method, re.compile(path), drops=False))

    @contextmanager
    def not_answering(self, method: str, path: str, times: int) -> Iterator[Rule]:
        """Do what is asked for, so often, and break off the connection."""
        yield from self._with(Rule(method, re.compile(path), drops=True, times=times))

    def _with(self, rule: Rule) -> Iterator[Rule]:
        self._rules.append(rule)
        try:
            yield rule
        finally:
            self._rules.remove(rule)

    # -- passing on ----------------------------------------------------------------------------

    async def _run(self) -> None:
        limitless = aiohttp.ClientTimeout(total=None)
        connector = aiohttp.TCPConnector(limit=0, ssl=self._trust)
        async with aiohttp.ClientSession(
            connector=connector, timeout=limitless, auto_decompress=False
        ) as session:
            self._session = session
            runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.01)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            port = runner.addresses[0][1]
            self._write_kubeconfig(f"http://127.0.0.1:{port}")
            self._ready.set()
            await self._over.wait()
            await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        rule = next((rule for rule in list(self._rules) if rule.applies(request)), None)
        if rule is None:
            return await self._pass_on(request)
        if rule.drops:
            await self._pass_on(request, is_answered=False)
            assert request.transport is not None
            request.transport.abort()
        rule.hit.set()
        return web.Response(status=503, text="refused for a test")

    async def _pass_on(
        self, request: web.BaseRequest, *, is_answered: bool = True
    ) -> web.StreamResponse:
        headers = {name: text for name, text in request.headers.items() if name.lower() not in _HOP}
        body = await request.read()
        url = self._server + request.raw_path
        # Without a body there is no type of it either: some requests are refused for a wrong one.
        sent = self._session.request(request.method, url, data=body or None, headers=headers)
        async with sent as answer:
            kept = {name: text for name, text in answer.headers.items() if name.lower() not in _HOP}
            response = web.StreamResponse(status=answer.status, headers=kept)
            if is_answered:
                await response.prepare(request)
            async for piece in answer.content.iter_any():
                if is_answered:
                    await response.write(piece)
            return response

    def _write_kubeconfig(self, server: str) -> None:
        name = "proxied"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": server}}],
            "users": [{"name": name, "user": {}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
        self.kubeconfig.write_text(yaml.safe_dump(document))
