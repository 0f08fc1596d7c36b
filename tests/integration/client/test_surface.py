"""What the client offers: one set of methods, twice, and an example that works."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import typing
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

import fluxnetes.client
from fluxnetes.client import AsyncClient, Client
from fluxnetes.v1 import jobs_pb2, resources_pb2
from tests.integration.client.jobs import cores, nodes
from tests.integration.rpc.graphs import a_cluster
from tests.integration.rpc.process import Serve

CALLED = {"GetJob": "job", "ListNodes": "nodes", "GetStatus": "status"}
CALLED["WatchResources"] = "watch_nodes"
"""Where a method is not called as the call is."""


def methods(kind: type) -> dict[str, typing.Any]:
    return {name: each for name, each in vars(kind).items() if not name.startswith("_")}


def test_both_clients_have_the_same_methods() -> None:
    assert list(methods(Client)) == list(methods(AsyncClient))
    assert inspect.signature(Client) == inspect.signature(AsyncClient)


@pytest.mark.parametrize("name", methods(Client))
def test_both_clients_take_and_give_the_same(name: str) -> None:
    waits, awaits = methods(Client)[name], methods(AsyncClient)[name]
    ours, theirs = inspect.signature(waits), inspect.signature(awaits)
    assert ours.parameters == theirs.parameters
    gives, returns = (typing.get_type_hints(each)["return"] for each in (waits, awaits))
    if name.startswith("watch_"):
        assert typing.get_origin(returns) is AsyncGenerator
        assert typing.get_origin(gives) is Generator
        assert typing.get_args(gives)[0] == typing.get_args(returns)[0]
    else:
        assert gives == returns
        assert inspect.iscoroutinefunction(awaits)


def test_every_call_of_the_api_has_a_method() -> None:
    services = (jobs_pb2.DESCRIPTOR, resources_pb2.DESCRIPTOR)
    calls = [m.name for each in services for s in each.services_by_name.values() for m in s.methods]
    snake = (re.sub(r"(?<=[a-z])(?=[A-Z])", "_", CALLED.get(name, name)).lower() for name in calls)
    assert {*snake} == {*methods(Client)} - {"close"}


def test_all_that_is_public_is_there() -> None:
    public = fluxnetes.client.__all__
    assert sorted(public) == list(public)
    assert [name for name in public if not hasattr(fluxnetes.client, name)] == []


def example() -> str:
    """The program that the package's docstring shows first; an index of modules follows it."""
    text, _, _ = (inspect.getdoc(fluxnetes.client) or "").partition("\n`AsyncClient`")
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ") or not line]
    return "\n".join(lines).strip()


def test_the_example_is_ten_lines_and_says_where_a_job_may_run(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = example()
    assert len([line for line in program.splitlines() if line]) == 10
    (tmp_path / "job.yaml").write_text(cores(2))
    monkeypatch.chdir(tmp_path)
    with Client(serve.address) as client:
        client.load(a_cluster(nodes=2, cores=4))
        assert run(program, serve) == "1 node0\n"
        assert client.status().jobs == {}
        client.match(nodes(2))
        assert run(program, serve) == "not now: needs 1 slot; none can be had now\n"


def run(program: str, serve: Serve) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(program.replace("127.0.0.1:4242", serve.address), {})  # noqa: S102 - it is ours
    return said.getvalue()
