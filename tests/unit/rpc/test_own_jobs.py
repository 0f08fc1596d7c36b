"""Callers see and change their own jobs; administrators see and change all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from fluxnetes.client import AsyncClient, Denied, UnknownJob
from fluxnetes.rpc.dialects.choice import services
from fluxnetes.rpc.guard import TokenGuard
from fluxnetes.rpc.server import ServerSettings, serving
from fluxnetes.rpc.wire import external_pb2, fluxcli_pb2, jobspec_pb2
from fluxnetes.service.backend import Backend
from fluxnetes.service.matcher_backend import MatcherBackend
from fluxnetes.service.matcher_ops import MatcherOperations
from fluxnetes.v1 import jobs_pb2
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.jobspecs import nodes, slots
from tests.unit.service.backends import running_backend

TOKENS = {name: f"0123456789abcdef-{name}" for name in ("ada", "bob", "ops")}
ONE = slots(1, 1)
DENIED = pytest.raises(Denied, match="is not a job of bob; use an administrator's token")
CANCEL_DENIED = 3


@dataclass
class Callers:
    """A server, and a client of each caller."""

    address: str
    ada: AsyncClient
    bob: AsyncClient
    ops: AsyncClient
    """An administrator."""

    async def call(self, caller: str, path: str, request: object, answer: type) -> object:
        """A call of an old dialect."""
        metadata = (("authorization", f"Bearer {TOKENS[caller]}"),)
        async with grpc.aio.insecure_channel(self.address) as channel:
            write = type(request).SerializeToString  # type: ignore[attr-defined]
            read = answer.FromString  # type: ignore[attr-defined]
            return await channel.unary_unary(path, write, read)(
                request, timeout=20, metadata=metadata
            )


@asynccontextmanager
async def served(backend: Backend, folder: Path) -> AsyncIterator[Callers]:
    file = folder / "tokens"
    admin = {"ops": " admin"}
    file.write_text(
        "\n".join(f"{name} {token}{admin.get(name, '')}" for name, token in TOKENS.items())
    )
    file.chmod(0o600)
    settings = ServerSettings("127.0.0.1:0", guard=TokenGuard(file))
    dialects = ["jobspec", "fluxcli", "external"]
    async with serving(services(backend, dialects), settings) as server, AsyncExitStack() as stack:
        where = f"127.0.0.1:{server.port}"
        clients = [
            await stack.enter_async_context(AsyncClient(where, token=token))
            for token in TOKENS.values()
        ]
        yield Callers(where, *clients)


BACKENDS = pytest.mark.parametrize("kind", ["matcher", "queue"])


@asynccontextmanager
async def callers_of(kind: str, folder: Path) -> AsyncIterator[Callers]:
    """Callers of a matcher or of a queue."""
    if kind == "queue":
        async with running_backend(2, 8) as up, served(up.backend, folder) as callers:
            yield callers
        return
    backend = MatcherBackend(MatcherOperations())
    await backend.load(a_cluster(2, 8), "jgf", "")
    async with served(backend, folder) as callers:
        yield callers
    await backend.close()


@BACKENDS
async def test_another_callers_job_is_neither_seen_nor_changed(kind: str, tmp_path: Path) -> None:
    async with callers_of(kind, tmp_path) as callers:
        job = (await callers.ada.match(ONE, name="mine")).id
        with pytest.raises(UnknownJob):
            await callers.bob.job(job)
        with pytest.raises(UnknownJob):
            await callers.bob.explain(job)
        with DENIED:
            await callers.bob.cancel(job)
        with DENIED:
            await callers.bob.finish(job)
        with DENIED:
            await callers.bob.renew(job)
        assert (await callers.ada.job(job)).user == "ada"
        await callers.ada.renew(job)
        await callers.ada.cancel(job)


@BACKENDS
async def test_an_administrator_sees_and_changes_all_jobs(kind: str, tmp_path: Path) -> None:
    async with callers_of(kind, tmp_path) as callers:
        jobs = [(await client.match(ONE)).id for client in (callers.ada, callers.bob)]
        for job in jobs:
            assert (await callers.ops.job(job)).id == job
            await callers.ops.renew(job)
            await callers.ops.cancel(job)


@BACKENDS
async def test_nodes_show_the_shares_of_a_callers_own_jobs(kind: str, tmp_path: Path) -> None:
    async with callers_of(kind, tmp_path) as callers:
        jobs = {
            name: (await client.match(ONE)).id
            for name, client in (("ada", callers.ada), ("bob", callers.bob))
        }

        async def shown(client: AsyncClient) -> set[int]:
            return {share.job for node in await client.nodes() for share in node.shares}

        assert await shown(callers.ada) == {jobs["ada"]}
        assert await shown(callers.bob) == {jobs["bob"]}
        assert await shown(callers.ops) == set(jobs.values())


@BACKENDS
async def test_a_stream_shows_a_callers_own_jobs(kind: str, tmp_path: Path) -> None:
    async with callers_of(kind, tmp_path) as callers:
        metadata = (("authorization", f"Bearer {TOKENS['ada']}"),)
        async with grpc.aio.insecure_channel(callers.address) as channel:
            watch = channel.unary_stream(
                "/fluxnetes.v1.JobService/WatchJobs",
                jobs_pb2.WatchJobsRequest.SerializeToString,
                jobs_pb2.WatchJobsResponse.FromString,
            )
            await callers.bob.match(ONE)
            mine = (await callers.ada.match(ONE)).id
            stream = watch(jobs_pb2.WatchJobsRequest(), timeout=20, metadata=metadata)
            seen: list[int] = []
            later = 0
            async for message in stream:
                if message.HasField("job"):
                    seen.append(message.job.id)
                elif message.kind == jobs_pb2.WatchJobsResponse.KIND_BOOKMARK and not later:
                    await callers.bob.match(ONE)
                    later = (await callers.ada.match(ONE)).id
                if later in seen:
                    break
            stream.cancel()
        assert set(seen) == {mine, later}


@BACKENDS
async def test_the_old_dialects_keep_callers_apart_too(kind: str, tmp_path: Path) -> None:
    async with callers_of(kind, tmp_path) as callers:
        job = (await callers.ada.match(ONE, name="mine")).id
        path = "/fluxion.FluxionService/Cancel"
        cancel = jobspec_pb2.CancelRequest(jobID=job)
        answer = await callers.call("bob", path, cancel, jobspec_pb2.CancelResponse)
        assert answer.status == CANCEL_DENIED  # type: ignore[attr-defined]
        with pytest.raises(grpc.aio.AioRpcError) as denied:
            await callers.call(
                "bob",
                "/fluxcli.FluxcliService/Cancel",
                fluxcli_pb2.CancelRequest(jobID=job),
                fluxcli_pb2.CancelResponse,
            )
        assert denied.value.code() is grpc.StatusCode.PERMISSION_DENIED
        for caller, name in (("ada", "mine"), ("bob", ""), ("ops", "mine")):
            listed = await callers.call(
                caller,
                "/service.ExternalPluginService/ListGroups",
                external_pb2.GroupRequest(),
                external_pb2.GroupResponse,
            )
            assert listed.name == name  # type: ignore[attr-defined]
        answer = await callers.call("ada", path, cancel, jobspec_pb2.CancelResponse)
        assert answer.status == 0  # type: ignore[attr-defined]


async def test_an_administrator_submits_in_the_name_of_another(tmp_path: Path) -> None:
    async with running_backend(2, 8) as up, served(up.backend, tmp_path) as callers:
        job = await callers.ops.submit(ONE, user="ada")
        assert (await callers.ada.job(job.id)).user == "ada"
        with pytest.raises(Denied, match="may not use the name of"):
            await callers.bob.submit(ONE, user="ada")
        for change in (callers.bob.hold, callers.bob.release, callers.bob.start):
            with DENIED:
                await change(job.id)


async def test_a_graph_is_changed_only_if_that_ends_no_job_of_another(tmp_path: Path) -> None:
    backend = MatcherBackend(MatcherOperations())
    try:
        async with served(backend, tmp_path) as callers:
            await callers.ada.load(a_cluster(3, 2))
            first = await callers.ada.match(nodes(1, 2))
            [node] = [share.node for share in first.nodes]
            for change in (
                callers.bob.load(a_cluster(1, 1)),
                callers.bob.shrink(f"/cluster0/{node}"),
            ):
                with DENIED:
                    await change
            others = sorted({"node0", "node1", "node2"} - {node})
            await callers.bob.shrink(f"/cluster0/{others[0]}")
            assert (await callers.ada.status()).nodes == 2
            assert (await callers.ada.job(first.id)).id == first.id
            await callers.ada.load(a_cluster(2, 2))
            await callers.ada.match(nodes(1, 2))
            await callers.ops.load(a_cluster(1, 1))
    finally:
        await backend.close()
