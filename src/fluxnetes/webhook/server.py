"""The HTTP server of the webhook.

POST /mutate               a review in, a review out
     /mutate-v1-sidecar    the same; the path of Fluxqueue
     /mutate-v1-fluence    the same; the path of Fluence
GET  /healthz              whether the process is alive
     /readyz               whether it accepts new requests
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
MAX_BODY_BYTES = 8 * 1024 * 1024
"""Maximum size of a review. An object in etcd has at most 1.5 MiB; a review holds one, in JSON."""

_KEEP_ALIVE = 180
"""Seconds that an idle connection stays open. The API server closes idle connections after 90. If
the webhook closed one first, a request might be under way on it, which is not sent again."""
_SHUTDOWN_TIMEOUT = 5
"""Seconds for requests under way to complete at shutdown."""

_log = logging.getLogger("fluxnetes.webhook")


class WebhookApp:
    """The routes of the webhook."""

    def __init__(self, policy: AdmissionPolicy) -> None:
        self._policy = policy
        self.is_ready = True
        routes = [Route(path, self._mutate, methods=["POST"]) for path in PATHS]
        routes += [Route("/healthz", self._health), Route("/readyz", self._readiness)]
        self.asgi = Starlette(routes=routes)

    async def _mutate(self, http: HttpRequest) -> Response:
        body = await _body(http)
        if body is None:
            return PlainTextResponse(f"a review has at most {MAX_BODY_BYTES} bytes", 413)
        try:
            request = read_review(body)
            decision = decide(request, self._policy)
        except InvalidReview as error:
            _log.warning("invalid review: %s", error)
            return PlainTextResponse(str(error), 400)
        _log_decision(request, decision)
        return Response(write_review(request, decision), media_type="application/json")

    async def _health(self, _: HttpRequest) -> Response:
        return PlainTextResponse("ok")

    async def _readiness(self, _: HttpRequest) -> Response:
        return PlainTextResponse("ok") if self.is_ready else PlainTextResponse("stopping", 503)


class WebhookServer(uvicorn.Server):
    """Serves until `should_exit`. It handles no signals; the caller does."""

    def __init__(self, app: WebhookApp, context: ssl.SSLContext) -> None:
        super().__init__(
            uvicorn.Config(
                app.asgi,
                ssl_context_factory=lambda *_: context,
                timeout_keep_alive=_KEEP_ALIVE,
                timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
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
        if size > MAX_BODY_BYTES:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def _log_decision(request: AdmissionRequest, decision: AdmissionDecision) -> None:
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
