"""What the pages on the service say is so, and what they show is what happens."""

from __future__ import annotations

import contextlib
import re
from datetime import timedelta
from pathlib import Path

import pytest
import typer.main
from google.protobuf.descriptor import MethodDescriptor

from fluxnetes import client
from fluxnetes.cli.serve.options import app
from fluxnetes.cli.serve.run import USUAL_POLICY
from fluxnetes.client.retrying import SAFE
from fluxnetes.rpc import credentials, server
from fluxnetes.rpc.api import reading, streams
from fluxnetes.rpc.grpc_status import code_of
from fluxnetes.service import changelog, matcher_backend
from fluxnetes.service.requests import jobspec_cache
from fluxnetes.service.requests.pods import MAX_PODS
from fluxnetes.v1 import jobs_pb2, resources_pb2
from tests.integration.client.pages import DOCS, PAGES, play
from tests.integration.client.test_errors import REFUSALS
from tests.integration.rpc.process import Serve

SERVE = (DOCS / "reference" / "serve.md").read_text()
API = (DOCS / "reference" / "api.md").read_text()
OPTIONS = {each.name: each for each in typer.main.get_command(app).params}


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of all tables with this heading."""
    tables = re.findall(rf"(?m)^\| {heading} \|.*\n\|[-|]+\n((?:\|.*\n)+)", page)
    lines = [line for table in tables for line in table.splitlines()]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def methods() -> list[MethodDescriptor]:
    services = (jobs_pb2.DESCRIPTOR, resources_pb2.DESCRIPTOR)
    return [m for each in services for s in each.services_by_name.values() for m in s.methods]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_block_shows_what_happens(page: Path) -> None:
    text = page.read_text()
    assert "```console" in text
    assert play(text) == text


def test_the_server_of_the_readme_starts(tmp_path: Path) -> None:
    [line] = re.findall(r"(?m)^fluxnetes serve ([^#\n]+)", (DOCS.parent / "README.md").read_text())
    with (
        contextlib.chdir(DOCS.parent),
        Serve(tmp_path, *line.split()) as started,
        client.Client(started.address) as caller,
    ):
        assert caller.status().source == "file"


# -- fluxnetes serve -------------------------------------------------------------------------------


def test_the_page_has_just_the_options_that_there_are() -> None:
    known = {name for each in OPTIONS.values() for name in each.opts if name.startswith("--")}
    listed = {n for cells in rows(SERVE, "option") for n in re.findall(r"`(--[a-z-]+)", cells[0])}
    assert listed == known | {"--help"}


def test_the_page_has_the_defaults_of_options() -> None:
    documented = {cells[0]: cells[1] for cells in rows(SERVE, "option")}
    assert f"default: `{OPTIONS['host'].default}`" in documented["`--host ADDRESS`"]
    assert f"default: {OPTIONS['port'].default}" in documented["`--port N`"]
    assert f"default: `{USUAL_POLICY}`" in documented["`--policy POLICY`"]
    assert f"by default {OPTIONS['max_message'].default}" in documented["`--max-message MIB`"]
    assert (
        f"default: {OPTIONS['renew_within'].default:g}," in documented["`--renew-within SECONDS`"]
    )


def test_the_page_has_the_limits_that_there_are() -> None:
    documented = {cells[0]: cells[1] for cells in rows(SERVE, "what")}
    assert server.LARGEST == 1 << 30
    assert documented["calls at one time, streams included"].startswith(f"{server.MOST_CALLS:,};")
    assert documented["a jobspec"].startswith(f"{jobspec_cache.LONGEST >> 20} MiB, ")
    most = f"{reading._MOST_SHAPES:,}; {MAX_PODS:,}"
    assert documented["shapes of a gang, pods of the old dialects"] == most
    kept = documented["jobs that ended and can still be asked about"]
    assert kept.startswith(f"{matcher_backend._ENDED_KEPT:,} ")
    assert (
        documented["changed jobs or nodes that a stream can resume over"] == f"{changelog.KEPT:,}"
    )


def test_the_page_has_the_certificates_that_are_made() -> None:
    documented = {cells[0]: cells[1] for cells in rows(SERVE, "file")}
    own = (
        (credentials.AUTHORITY, credentials.AUTHORITY_KEY),
        (
            credentials.CERTIFICATE,
            credentials.KEY,
        ),
    )
    assert [f"`{certificate}`, `{key}`" for certificate, key in own] == list(documented)
    assert timedelta(days=90) == credentials._LIFETIME


# -- the API ---------------------------------------------------------------------------------------


def test_the_page_has_every_call_with_the_method_that_makes_it() -> None:
    listed = {cells[0].strip("`"): cells[1].strip("`") for cells in rows(API, "call")}
    assert set(listed) == {method.name for method in methods()}
    assert all(hasattr(client.Client, name) for name in listed.values())


def test_the_page_says_which_calls_are_made_again() -> None:
    listed = {cells[0].strip("`"): cells[3] for cells in rows(API, "call")}
    assert {name for name, again in listed.items() if again.startswith("yes")} == SAFE
    streamed = {name for name, again in listed.items() if again == "resumes"}
    assert streamed == {method.name for method in methods() if method.server_streaming}


def test_the_page_has_every_reason_with_its_code_and_its_error() -> None:
    listed = {tuple(cell.strip("`") for cell in cells[:3]) for cells in rows(API, "reason")}
    known = ((code_of(refusal), kind.__name__) for refusal, kind in REFUSALS)
    assert listed == {(reason, code.name, kind) for (reason, code), kind in known}


def test_the_page_has_the_kinds_and_times_of_streams() -> None:
    listed = {kind for cells in rows(API, "kind") for kind in re.findall(r"`(\w+)`", cells[0])}
    watched = (jobs_pb2.WatchJobsResponse, resources_pb2.WatchResourcesResponse)
    names = {name for each in watched for name in each.Kind.DESCRIPTOR.values_by_name}
    known = {name.removeprefix("KIND_") for name in names}
    assert listed == known - {"UNSPECIFIED"}
    assert f"every {streams.BOOKMARK_INTERVAL:.0f} s" in API
    assert f"for {streams._BATCH_DELAY * 1000:.0f} ms" in API


def test_every_page_that_these_pages_point_to_exists() -> None:
    for page in (*PAGES, DOCS / "reference" / "api.md"):
        targets = re.findall(r"\]\(([^)#]+)(?:#[a-z-]+)?\)", page.read_text())
        local = [target for target in targets if "://" not in target]
        assert [target for target in local if not (page.parent / target).exists()] == []
