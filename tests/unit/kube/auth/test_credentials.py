"""Credentials that go stale are read anew; a source that fails for a while does no harm."""

from __future__ import annotations

import asyncio
import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fluxnetes.kube.auth import credentials as module
from fluxnetes.kube.auth.access import ApiAccess, from_kubeconfig, in_cluster
from fluxnetes.kube.auth.credentials import Credential, CredentialReading, Credentials
from fluxnetes.kube.errors import ConfigError
from tests.unit.kube.auth.test_access import a_config, a_service_account, write
from tests.unit.kube.certificates import Authority

VERSION = "client.authentication.k8s.io/v1"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


async def token(access: ApiAccess) -> str:
    return (await access.credentials.current()).headers["Authorization"].removeprefix("Bearer ")


# --- files ---


def test_a_token_file_is_read_again_after_a_minute(tmp_path: Path, clock: Clock) -> None:
    async def run() -> None:
        access = in_cluster(tmp_path, a_service_account(tmp_path))
        first = await access.credentials.current()
        (tmp_path / "token").write_text("second")
        clock.now += 59
        assert await access.credentials.current() is first
        clock.now += 2
        assert await token(access) == "second"

    asyncio.run(run())


def test_while_a_token_file_is_missing_the_last_token_serves(tmp_path: Path, clock: Clock) -> None:
    async def run() -> None:
        access = in_cluster(tmp_path, a_service_account(tmp_path))
        assert await token(access) == "first"
        (tmp_path / "token").unlink()
        clock.now += 61
        assert await token(access) == "first"
        (tmp_path / "token").write_text("")
        clock.now += 6
        assert await token(access) == "first"
        (tmp_path / "token").write_text("second")
        clock.now += 6
        assert await token(access) == "second"

    asyncio.run(run())


def test_a_token_file_that_was_never_there_is_an_error(tmp_path: Path) -> None:
    access = in_cluster(tmp_path, a_service_account(tmp_path))
    (tmp_path / "token").unlink()
    with pytest.raises(ConfigError, match=r"the token file .* cannot be read"):
        asyncio.run(token(access))


def test_what_did_not_change_keeps_its_connections(tmp_path: Path, clock: Clock) -> None:
    async def run() -> None:
        access = in_cluster(tmp_path, a_service_account(tmp_path))
        first = await access.credentials.current()
        clock.now += 61
        assert await access.credentials.current() is first

    asyncio.run(run())


def test_after_a_refusal_the_source_is_asked_at_once_but_not_each_time(clock: Clock) -> None:
    asked = 0

    async def source() -> CredentialReading:
        nonlocal asked
        asked += 1
        return CredentialReading(Credential(token=f"t{asked}"))

    async def run() -> None:
        credentials = Credentials(source, None)
        first = await credentials.current()
        clock.now += 10
        second = await credentials.another(first)
        assert second is not None and second.headers["Authorization"] == "Bearer t2"
        assert await credentials.another(first) is second, "another caller has asked already"
        assert await credentials.another(second) is None, "too soon"
        assert asked == 2

    asyncio.run(run())


def test_many_requests_at_once_ask_the_source_once(clock: Clock) -> None:
    asked = 0

    async def source() -> CredentialReading:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return CredentialReading(Credential(token="t"))  # noqa: S106

    async def run() -> None:
        credentials = Credentials(source, None)
        await asyncio.gather(*(credentials.current() for _ in range(20)))
        assert asked == 1

    asyncio.run(run())


# --- plugins ---


def a_plugin(folder: Path, script: str, **more: Any) -> ApiAccess:
    """A kubeconfig whose plugin is this shell script."""
    path = write(folder / "bin" / "plugin", f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    entry = {"command": "./bin/plugin", "apiVersion": VERSION, **more}
    return from_kubeconfig([write(folder / "config", a_config({"exec": entry}))])


def answer(**status: str) -> str:
    """A script that answers this."""
    credential = {"apiVersion": VERSION, "kind": "ExecCredential", "status": status}
    return f"cat <<'END'\n{json.dumps(credential)}\nEND"


def in_minutes(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


def test_a_plugin_beside_the_kubeconfig_hands_out_a_token(tmp_path: Path) -> None:
    assert asyncio.run(token(a_plugin(tmp_path, answer(token="abc")))) == "abc"  # noqa: S106


def test_a_plugin_is_asked_again_shortly_before_its_token_ends(
    tmp_path: Path, clock: Clock
) -> None:
    async def run() -> None:
        count = f"echo >>{tmp_path}/runs\nn=$(wc -l <{tmp_path}/runs)\n"
        reply = answer(token="t$n", expirationTimestamp=in_minutes(10))  # noqa: S106
        access = a_plugin(tmp_path, count + reply.replace("'END'", "END"))
        assert await token(access) == "t1"
        clock.now += 9 * 60
        assert await token(access) == "t1"
        clock.now += 45
        assert await token(access) == "t2"

    asyncio.run(run())


def test_a_plugin_gets_the_question_its_arguments_and_its_variables(tmp_path: Path) -> None:
    async def run() -> None:
        access = a_plugin(
            tmp_path,
            f'echo "$KUBERNETES_EXEC_INFO" >{tmp_path}/asked\n'
            + answer(token="$1-$COLOUR").replace("'END'", "END"),  # noqa: S106
            args=["arg"],
            env=[{"name": "COLOUR", "value": "red"}],
            provideClusterInfo=True,
        )
        assert await token(access) == "arg-red"

    asyncio.run(run())
    asked = json.loads((tmp_path / "asked").read_text())
    assert (asked["apiVersion"], asked["kind"]) == (VERSION, "ExecCredential")
    assert asked["spec"]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert asked["spec"]["interactive"] is False


def test_a_plugin_may_hand_out_a_certificate(tmp_path: Path) -> None:
    certificate, key = Authority().sign("us")
    access = a_plugin(tmp_path, answer(clientCertificateData=certificate, clientKeyData=key))
    assert asyncio.run(access.credentials.current()).headers == {}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo log in first >&2; exit 3", r"failed \(status 3\): log in first"),
        ("echo hello", "did not print an ExecCredential"),
        (answer(), "neither a token nor a certificate"),
        (answer(clientKeyData="x"), "only one of a certificate and its key"),
        (answer(token="t").replace("/v1", "/v1beta1"), "make them agree"),  # noqa: S106
    ],
)
def test_what_is_wrong_with_a_plugin_is_said(tmp_path: Path, script: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        asyncio.run(token(a_plugin(tmp_path, script)))


def test_how_to_get_a_missing_plugin_is_said(tmp_path: Path) -> None:
    access = a_plugin(tmp_path, "", command="no-such-plugin", installHint="brew install it")
    with pytest.raises(ConfigError, match=r"'no-such-plugin' cannot be run.*brew install it"):
        asyncio.run(token(access))
