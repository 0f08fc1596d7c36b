"""A small API client for the plane itself, its tests and its benchmarks.

One connection, one thread, no cache: the scheduler has a client of its own, `fluxnetes.kube`.
`follow` lists and then watches, so that callers wait for a state without polling.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from fluxnetes.plane.certificates import PlaneCertificate
from fluxnetes.plane.errors import PlaneFailed, RequestRefused
from fluxnetes.plane.paths import LOOPBACK

Object = dict[str, Any]
"""An object of the API, as decoded JSON."""

MERGE = "application/merge-patch+json"
_TIMEOUT = 60.0
"""Maximum seconds that a request may take."""
_READY_TIMEOUT = 5.0
"""Maximum seconds that a readiness check may take."""
_CONNECTION_LOST = (http.client.HTTPException, ConnectionError, ssl.SSLError)


class PlaneApi:
    """An administrator's connection to the API server."""

    def __init__(self, port: int, authority: Path, client: PlaneCertificate) -> None:
        self._port = port
        self._trust = ssl.create_default_context(cafile=authority)
        self._trust.load_cert_chain(client.certificate, client.key)
        self._connection: http.client.HTTPSConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def is_ready(self) -> bool:
        """Whether the server reports that it is ready, on a connection of its own.

        A server that is starting may leave a request unanswered for a minute.
        """
        with closing(self._connect(_READY_TIMEOUT)) as connection:
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == http.client.OK
            except (OSError, http.client.HTTPException):
                return False

    def get(self, path: str) -> Object:
        return self._send("GET", path)

    def create(self, path: str, item: Object) -> Object:
        return self._send("POST", path, item)

    def patch(self, path: str, change: Object) -> Object:
        return self._send("PATCH", path, change, MERGE)

    def delete(self, path: str) -> Object:
        return self._send("DELETE", path)

    def follow(self, path: str, seconds: float = 60.0) -> Iterator[Mapping[str, Object]]:
        """The objects at `path`, by name: now, and again after each change, until the timeout.

        The timeout is an error: the caller stops iterating when it has seen what it waits for.
        """
        deadline = time.monotonic() + seconds
        listed = self.get(path)
        known = {each["metadata"]["name"]: each for each in listed["items"]}
        version = listed["metadata"]["resourceVersion"]
        yield known
        while time.monotonic() < deadline:  # the server ends a watch whose reader falls behind
            for event in self._watch(path, version, deadline):
                item = _apply(event, known)
                version = item["metadata"]["resourceVersion"]
                yield known
        raise PlaneFailed(f"{path} did not reach the expected state within {seconds:.0f} s")

    def _watch(self, path: str, version: str, deadline: float) -> Iterator[Object]:
        left = max(1, int(deadline - time.monotonic()) + 1)
        separator = "&" if "?" in path else "?"
        url = f"{path}{separator}watch=1&resourceVersion={version}&timeoutSeconds={left}"
        with closing(self._connect()) as connection:
            connection.request("GET", url)
            response = connection.getresponse()
            if response.status != http.client.OK:
                _read(f"watch {path}", response)
            yield from map(json.loads, response)

    def _connect(self, timeout: float = _TIMEOUT) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(
            LOOPBACK, self._port, context=self._trust, timeout=timeout
        )

    def _send(
        self, method: str, path: str, body: Object | None = None, kind: str = "application/json"
    ) -> Object:
        data = None if body is None else json.dumps(body).encode()
        for is_last in (False, True):
            connection = self._connection = self._connection or self._connect()
            try:
                connection.request(method, path, data, {"Content-Type": kind})
                return _read(f"{method} {path}", connection.getresponse())
            except _CONNECTION_LOST:  # an idle connection that the server has closed
                self.close()
                if is_last:
                    raise
        raise AssertionError("unreachable")


def _apply(event: Object, known: dict[str, Object]) -> Object:
    item: Object = event["object"]
    if event["type"] == "ERROR":
        raise RequestRefused("watch", item["code"], item["reason"], item["message"])
    if event["type"] == "DELETED":
        known.pop(item["metadata"]["name"], None)
    else:
        known[item["metadata"]["name"]] = item
    return item


def _read(request: str, response: http.client.HTTPResponse) -> Object:
    data = response.read()
    is_json = "json" in response.headers.get("Content-Type", "")
    content: Object = json.loads(data) if is_json else {"text": data.decode(errors="replace")}
    if response.status >= http.client.BAD_REQUEST:
        reason = content.get("reason") or response.reason or ""
        message = content.get("message") or content.get("text", "")
        raise RequestRefused(request, response.status, reason, message)
    return content
