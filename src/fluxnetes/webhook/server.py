"""The webhook over HTTP.

POST /mutate               a review in, a review out
     /mutate-v1-sidecar    the same; where Fluxqueue's was
     /mutate-v1-fluence    the same; where Fluence's was
GET  /healthz              whether we are alive
     /readyz               whether new requests should come to us
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from fluxnetes.webhook.mutate import AdmissionPolicy, decide
from fluxnetes.webhook.registration import PATH
from fluxnetes.webhook.review import (
    AdmissionDecision,
    AdmissionRequest,
    InvalidReview,
    read_review,
    write_review,
)

PATHS = (PATH, "/mutate-v1-sidecar", "/mutate-v1-fluence")
LARGEST_BODY = 8 * 1024 * 1024
"""An object in etcd has at most 1.5 MiB; a review holds one, in JSON."""

_KEEP_ALIVE = 180
"""Seconds. The API server closes idle connections after 90. If we were the first to close one, it
might just be sending a request on it, and would not send that again."""
_LAST_ANSWERS = 5

_log = logging.getLogger("fluxnetes.webhook")


class WebhookApp:
    """What is answered to whom."""

    def __init__(self, policy: AdmissionPolicy) -> None:
        self._policy = policy
        self.is_ready = True
        routes = [Route(path, self._mutate, methods=["POST"]) for path in PATHS]
        routes += [Route("/healthz", self._health), Route("/readyz", self._readiness)]
        self.asgi = Starlette(routes=routes)

    async def _mutate(self, http: HttpRequest) -> Response:
        body = await _body(http)
        if body is None:
            return PlainTextResponse(f"a review has at most {LARGEST_BODY} bytes", 413)
        try:
            request = read_review(body)
            decision = decide(request, self._policy)
        except InvalidReview as error:
            _log.warning("bad review: %s", error)
            return PlainTextResponse(str(error), 400)
        _tell(request, decision)
        return Response(write_review(request, decision), media_type="application/json")

    async def _health(self, _: HttpRequest) -> Response:
        return PlainTextResponse("ok")

    async def _readiness(self, _: HttpRequest) -> Response:
        return PlainTextResponse("ok") if self.is_ready else PlainTextResponse("stopping", 503)


class WebhookServer(uvicorn.Server):
    """Serves until `should_exit`. Signals are for whoever started us."""

    def __init__(self, app: WebhookApp, context: ssl.SSLContext) -> None:
        super().__init__(
            uvicorn.Config(
                app.asgi,
                ssl_context_factory=lambda *_: context,
                timeout_keep_alive=_KEEP_ALIVE,
                timeout_graceful_shutdown=_LAST_ANSWERS,
                lifespan="off",
                ws="none",
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                proxy_headers=False,
                server_header=False,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _body(http: HttpRequest) -> bytes | None:
    """The whole body; None if it is too large."""
    pieces, size = [], 0
    async for piece in http.stream():
        size += len(piece)
        if size > LARGEST_BODY:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def _tell(request: AdmissionRequest, decision: AdmissionDecision) -> None:
    if _log.isEnabledFor(logging.DEBUG):
        _log.debug(
            "%s %s/%s by %s: %s%s",
            request.resource.resource,
            request.namespace,
            request.name or "(no name yet)",
            request.user_info.username,
            decision.why,
            f" ({decision.refusal})" if decision.refusal else "",
        )
