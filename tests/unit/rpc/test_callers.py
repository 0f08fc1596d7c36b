"""The user of a job is its caller, whom the token identifies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fluxnetes.client import AsyncClient, Denied
from fluxnetes.rpc.dialects.choice import services
from fluxnetes.rpc.guard import TokenGuard
from fluxnetes.rpc.server import ServerSettings, serving
from fluxnetes.service.backend import Backend
from fluxnetes.service.matcher_backend import MatcherBackend
from fluxnetes.service.matcher_ops import MatcherOperations
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import slots
from tests.unit.service.backends import running_backend

ADA, BOB = "0123456789abcdef-ada", "0123456789abcdef-bob"
ONE = slots(1, 1)


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text(f"ada {ADA}\nbob {BOB}\n")
    file.chmod(0o600)
    return file


@asynccontextmanager
async def served(backend: Backend, tokens: Path | None) -> AsyncIterator[str]:
    guard = None if tokens is None else TokenGuard(tokens)
    settings = ServerSettings("127.0.0.1:0", guard=guard)
    async with serving(services(backend, ["jobspec", "fluxcli"]), settings) as server:
        yield f"127.0.0.1:{server.port}"


async def test_the_user_of_a_job_is_its_caller(tokens: Path) -> None:
    async with running_backend() as up, served(up.backend, tokens) as where:
        for token, name in ((ADA, "ada"), (BOB, "bob")):
            async with AsyncClient(where, token=token) as client:
                assert (await client.submit(ONE)).user == name
                assert (await client.submit(ONE, user=name)).user == name
                matched = await client.match(ONE)
                assert matched.user == name
                assert (await client.job(matched.id)).user == name


async def test_a_call_in_the_name_of_another_user_is_denied_and_does_nothing(
    tokens: Path,
) -> None:
    async with (
        running_backend() as up,
        served(up.backend, tokens) as where,
        AsyncClient(where, token=ADA) as ada,
    ):
        with pytest.raises(Denied, match="ada may not use the name of bob"):
            await ada.submit(ONE, user="bob")
        with pytest.raises(Denied):
            await ada.estimate(ONE, user="bob")
        assert (await ada.status()).jobs == {}


async def test_without_tokens_the_user_of_a_job_is_the_named_one() -> None:
    async with (
        running_backend() as up,
        served(up.backend, None) as where,
        AsyncClient(where) as client,
    ):
        assert (await client.submit(ONE, user="bob")).user == "bob"
        assert (await client.submit(ONE)).user == "nobody"


async def test_callers_at_one_time_are_not_taken_for_each_other(tokens: Path) -> None:
    async with (
        running_backend(nodes=4, cores=16) as up,
        served(up.backend, tokens) as where,
        AsyncClient(where, token=ADA) as ada,
        AsyncClient(where, token=BOB) as bob,
    ):
        asked = [client.submit(ONE) for _ in range(25) for client in (ada, bob)]
        jobs = await asyncio.gather(*asked)
        assert [job.user for job in jobs] == ["ada", "bob"] * 25


async def test_a_matcher_backend_knows_the_user_of_a_job_too(tokens: Path) -> None:
    backend = MatcherBackend(MatcherOperations())
    try:
        await backend.load(a_cluster(2, 4), "jgf", "")
        async with served(backend, tokens) as where, AsyncClient(where, token=ADA) as ada:
            job = await ada.match(ONE)
            assert (job.user, (await ada.job(job.id)).user) == ("ada", "ada")
    finally:
        await backend.close()
