"""The guard: callers with a token of the file, as it is now, and no others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from fluxnetes.rpc import guard as guards
from fluxnetes.rpc.guard import InvalidTokens, TokenGuard
from fluxnetes.rpc.server import ServerSettings
from fluxnetes.service.callers import Caller
from fluxnetes.v1 import resources_pb2 as v1
from tests.unit.rpc.serving import WATCH, served, status

ADA, BOB = "0123456789abcdef-ada", "0123456789abcdef-bob"

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the file of tokens anew, as an editor would."""
    file = tmp_path / "tokens"
    written = 0

    def write(text: str) -> Path:
        nonlocal written
        file.write_text(text)
        file.chmod(0o600)
        written += 1
        os.utime(file, ns=(written, written))  # clocks of file systems may be coarse
        return file

    return write


def shown(token: str) -> tuple[tuple[str, str], ...]:
    return (("user-agent", "x"), ("authorization", f"Bearer {token}"))


def test_a_caller_with_a_token_of_the_file_is_known_by_name(write: Write) -> None:
    guard = TokenGuard(write(f"# for tests\n\nada {ADA}\n  bob\t{BOB}  \n"))
    assert guard.caller(shown(ADA)) == "ada"
    assert guard.caller(shown(BOB)) == "bob"


def test_the_third_word_of_a_line_makes_an_administrator(write: Write) -> None:
    guard = TokenGuard(write(f"ada {ADA} admin\nbob {BOB}\n"))
    assert guard.find(shown(ADA)) == Caller("ada", is_admin=True)
    assert guard.find(shown(BOB)) == Caller("bob")
    assert guard.find(shown("x")) is None


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        (),
        (("authorization", ""),),
        (("authorization", "Bearer "),),
        (("authorization", ADA),),
        (("authorization", f"Basic {ADA}"),),
        (("authorization", f"bearer{ADA}"),),
        (("authorization-bin", b"Bearer"),),
        (("authorization", b"Bearer x"),),
        (("token", f"Bearer {ADA}"),),
        shown(ADA[:-1]),
        shown(ADA + "x"),
        shown("ada"),
        shown("#"),
    ],
)
def test_a_caller_with_other_metadata_is_unknown(write: Write, metadata: object) -> None:
    assert TokenGuard(write(f"ada {ADA}\n# {BOB}")).caller(metadata) is None


def test_the_file_is_read_anew_when_it_changed(write: Write) -> None:
    guard = TokenGuard(write(f"ada {ADA}\n"))
    write(f"bob {BOB}\n")
    assert (guard.caller(shown(ADA)), guard.caller(shown(BOB))) == (None, "bob")


def test_the_file_is_not_read_as_long_as_it_is_the_same(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = TokenGuard(write(f"ada {ADA}\n"))
    monkeypatch.setattr(guards, "read_tokens", lambda file: pytest.fail("it was read"))
    assert guard.caller(shown(ADA)) == "ada"


@pytest.mark.parametrize("text", ["", "ada", "ada short", f"ada {ADA} more"])
def test_a_file_that_makes_no_sense_any_more_changes_nothing(
    write: Write, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistake in the file must neither admit every caller nor lock all of them out."""
    guard = TokenGuard(write(f"ada {ADA}\n"))
    write(text)
    assert guard.caller(shown(ADA)) == "ada"
    assert guard.caller(shown(BOB)) is None
    assert caplog.text.count("the old ones stay in use") == 1
    write(f"bob {BOB}\n")
    assert guard.caller(shown(BOB)) == "bob"


def test_a_file_that_is_gone_changes_nothing_until_it_is_there_again(write: Write) -> None:
    file = write(f"ada {ADA}\n")
    guard = TokenGuard(file)
    file.unlink()
    assert guard.caller(shown(ADA)) == "ada"
    write(f"bob {BOB}\n")
    assert guard.caller(shown(ADA)) is None


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o607, 0o644, 0o666])
def test_a_file_that_others_can_read_or_write_is_refused(write: Write, mode: int) -> None:
    file = write(f"ada {ADA}\n")
    file.chmod(mode)
    with pytest.raises(InvalidTokens, match="chmod o="):
        TokenGuard(file)


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "no tokens"), ("# none\n", "no tokens"), ("ada x\n", "line 1: expected a name")],
)
def test_to_begin_with_a_bad_file_is_refused_with_its_name(
    write: Write, text: str, why: str
) -> None:
    file = write(text)
    with pytest.raises(InvalidTokens, match=why) as refused:
        TokenGuard(file)
    assert str(file) in str(refused.value)


def test_tokens_are_not_kept_as_they_are(write: Write) -> None:
    """A memory dump or a crash report shows only the hashes of tokens."""
    guard = TokenGuard(write(f"ada {ADA}\n"))
    assert ADA not in repr(vars(guard))


def test_all_tokens_are_compared_whatever_is_shown(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long it takes must not say which one was right, or nearly."""
    tokens = [f"{n:016d}" for n in range(20)]
    guard = TokenGuard(write("\n".join(f"user{n} {token}" for n, token in enumerate(tokens))))
    compared: list[bytes] = []

    def compare(known: bytes, digest: bytes) -> bool:
        compared.append(known)
        return known == digest

    monkeypatch.setattr("hmac.compare_digest", compare)
    for token in (tokens[0], tokens[19], "unknown"):
        guard.caller(shown(token))
    assert len(compared) == 3 * 20


# -- over the wire ---------------------------------------------------------------------------------


async def test_a_server_with_tokens_answers_callers_that_have_one(write: Write) -> None:
    settings = ServerSettings("127.0.0.1:0", guard=TokenGuard(write(f"ada {ADA}\n")))
    async with (
        served(settings) as up,
        grpc.aio.insecure_channel(up.address) as channel,
    ):
        assert (await status(channel, f"Bearer {ADA}")).source == "none"
        for token in (None, "", "Bearer x", f"Bearer {BOB}"):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await status(channel, token)
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
            assert "authorization: Bearer" in (refused.value.details() or "")


async def test_streams_and_old_dialects_are_guarded_too(write: Write) -> None:
    settings = ServerSettings("127.0.0.1:0", guard=TokenGuard(write(f"ada {ADA}\n")))
    async with served(settings) as up, grpc.aio.insecure_channel(up.address) as channel:
        watch = channel.unary_stream(WATCH, v1.WatchResourcesRequest.SerializeToString, bytes)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            async for _ in watch(v1.WatchResourcesRequest(), timeout=20):
                pass
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
        for path in (
            "/fluxion.FluxionService/Match",
            "/fluxcli.FluxcliService/Cancel",
            "/service.ExternalPluginService/GetResources",
            "/missing.Service/Method",
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await channel.unary_unary(path, bytes, bytes)(b"", timeout=20)
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_health_checks_need_no_token(write: Write) -> None:
    settings = ServerSettings("127.0.0.1:0", guard=TokenGuard(write(f"ada {ADA}\n")))
    async with served(settings) as up, grpc.aio.insecure_channel(up.address) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        answer = await check(health_pb2.HealthCheckRequest(), timeout=20)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
