"""The few requests that the plane itself, its tests and benchmarks send to the API server.

One connection, one thread, no cache: whoever schedules has a client of its own, in another layer.
`follow` lists and then watches, so that nobody has to sleep until something is so.
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
"""An object of the API, as JSON has it."""

MERGE = "application/merge-patch+json"
_SLOWEST_ANSWER = 60.0
_LOST = (http.client.HTTPException, ConnectionError, ssl.SSLError)


class PlaneApi:
    """An admin's way in."""

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
        """Whether the server says that it can be used."""
        try:
            self.get("/readyz")
        except (RequestRefused, OSError, http.client.HTTPException):
            return False
        return True

    def get(self, path: str) -> Object:
        return self._send("GET", path)

    def create(self, path: str, thing: Object) -> Object:
        return self._send("POST", path, thing)

    def patch(self, path: str, change: Object) -> Object:
        return self._send("PATCH", path, change, MERGE)

    def delete(self, path: str) -> Object:
        return self._send("DELETE", path)

    def follow(self, path: str, seconds: float = 60.0) -> Iterator[Mapping[str, Object]]:
        """What is at `path` now, and again after each change, until there was no more time.

        Yields all objects by name. Ends with an error: whoever waits for something leaves earlier.
        """
        deadline = time.monotonic() + seconds
        listed = self.get(path)
        known = {each["metadata"]["name"]: each for each in listed["items"]}
        version = listed["metadata"]["resourceVersion"]
        yield known
        while time.monotonic() < deadline:  # the server ends one whose reader lags a little
            for event in self._watch(path, version, deadline):
                thing = _apply(event, known)
                version = thing["metadata"]["resourceVersion"]
                yield known
        raise PlaneFailed(f"what {path} was expected to show did not come within {seconds:.0f} s")

    def _watch(self, path: str, version: str, deadline: float) -> Iterator[Object]:
        left = max(1, int(deadline - time.monotonic()) + 1)
        mark = "&" if "?" in path else "?"
        asked = f"{path}{mark}watch=1&resourceVersion={version}&timeoutSeconds={left}"
        with closing(self._connect()) as connection:
            connection.request("GET", asked)
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                _read(f"watch {path}", answer)
            yield from map(json.loads, answer)

    def _connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(
            LOOPBACK, self._port, context=self._trust, timeout=_SLOWEST_ANSWER
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
            except _LOST:  # an idle connection that the server has closed
                self.close()
                if is_last:
                    raise
        raise AssertionError("unreachable")


def _apply(event: Object, known: dict[str, Object]) -> Object:
    thing: Object = event["object"]
    if event["type"] == "ERROR":
        raise RequestRefused("watch", thing["code"], thing["reason"], thing["message"])
    if event["type"] == "DELETED":
        known.pop(thing["metadata"]["name"], None)
    else:
        known[thing["metadata"]["name"]] = thing
    return thing


def _read(asked: str, answer: http.client.HTTPResponse) -> Object:
    said = answer.read()
    is_json = "json" in answer.headers.get("Content-Type", "")
    content: Object = json.loads(said) if is_json else {"text": said.decode(errors="replace")}
    if answer.status >= http.client.BAD_REQUEST:
        reason = content.get("reason") or answer.reason or ""
        message = content.get("message") or content.get("text", "")
        raise RequestRefused(asked, answer.status, reason, message)
    return content
