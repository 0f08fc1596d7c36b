"""The webhook over HTTP, with malformed requests."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator

import pytest

from fluxnetes.webhook.server import MAX_BODY_BYTES, PATHS
from tests.integration.webhook.command import Command
from tests.unit.webhook.reviews import a_pod, a_review

GOOD = json.dumps(a_review(a_pod())).encode()


@pytest.fixture
def connection(webhook: Command) -> Iterator[http.client.HTTPSConnection]:
    trust = ssl.create_default_context(cadata=webhook.authority())
    connection = http.client.HTTPSConnection("127.0.0.1", webhook.port, context=trust, timeout=20)
    yield connection
    connection.close()


def send(
    connection: http.client.HTTPSConnection, body: bytes, path: str = "/mutate"
) -> tuple[int, str]:
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.parametrize("path", PATHS)
def test_the_old_paths_answer_like_the_new_one(
    connection: http.client.HTTPSConnection, path: str
) -> None:
    status, text = send(connection, GOOD, path)
    assert status == 200
    assert json.loads(text)["response"]["patchType"] == "JSONPatch"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff" * 1000, b"[" * 1_000_000, b"{}", b"null"])
def test_nonsense_is_answered_in_words_and_harms_no_other(
    connection: http.client.HTTPSConnection, body: bytes
) -> None:
    status, text = send(connection, body)
    assert status == 400
    assert text.startswith("expected an AdmissionReview")
    assert send(connection, GOOD)[0] == 200


def test_what_is_too_large_is_not_read(connection: http.client.HTTPSConnection) -> None:
    padding = b" " * (MAX_BODY_BYTES - len(GOOD))
    assert send(connection, GOOD + padding)[0] == 200
    assert send(connection, GOOD + padding + b" ")[0] == 413


def test_health_is_reported(connection: http.client.HTTPSConnection) -> None:
    for path, status in (("/healthz", 200), ("/readyz", 200), ("/mutate", 405), ("/", 404)):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert (path, answer.status) == (path, status)


def test_while_another_process_computes_every_answer_comes_and_costs_at_most_50_ms(
    webhook: Command, connection: http.client.HTTPSConnection
) -> None:
    """The cost is the webhook's own processor time: how long an answer takes depends on what else
    the machine does. `bench.kube_webhook` measures that."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as burning:
        try:
            before = webhook.processor_seconds()
            for _ in range(100):
                assert send(connection, GOOD)[0] == 200
            assert webhook.processor_seconds() - before < 100 * 0.050
        finally:
            burning.kill()
