"""What a failed request means is said exactly, and binds do not wait for other requests."""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from fluxnetes.kube.auth.access import ApiAccess, from_kubeconfig, in_cluster
from fluxnetes.kube.auth.credentials import Credential, CredentialReading, Credentials
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import (
    Conflict,
    Overloaded,
    ServerError,
    Unauthorized,
    Unreachable,
    UnreadableResponse,
    Untrusted,
)
from fluxnetes.kube.http.tls import ServerTrust
from fluxnetes.kube.http.transport import Lane
from fluxnetes.kube.objects.jobs import JOBS
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.patches import apply, edits, merge, strategic
from tests.integration.kube.faults import Faulty, access_to, break_off, connect, refuse, say, serve
from tests.unit.kube.auth.test_access import a_config, a_service_account, encoded, write
from tests.unit.kube.certificates import Authority
from tests.unit.kube.objects import a_pod

A_POD = msgspec.json.encode(a_pod("a", 1))


async def test_nothing_was_done_if_there_was_no_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        absent = Faulty([], address=f"http://127.0.0.1:{unused.getsockname()[1]}")
        async with KubeClient(access_to(absent)) as client:
            with pytest.raises(Unreachable, match="create pods default at http") as failed:
                await client.create(PODS, a_pod("a"), "default")
    assert not failed.value.may_be_done


async def test_connections_that_cannot_be_opened_ahead_are_no_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        absent = Faulty([], address=f"http://127.0.0.1:{unused.getsockname()[1]}")
        async with KubeClient(access_to(absent)) as client:
            await client.prepare_binds()
            with pytest.raises(Unreachable):
                await client.bind("a", "default", uid="u", node="n")


async def test_the_outcome_is_unknown_if_the_connection_broke() -> None:
    async with connect(break_off) as (client, server):
        with pytest.raises(Unreachable) as failed:
            await client.create(PODS, a_pod("a"), "default")
        assert failed.value.may_be_done
        assert len(server.asked) == 1, "a write is never sent again behind the caller's back"


async def test_a_server_that_never_answers_is_given_up() -> None:
    async with connect(timeout=0.1) as (client, _):
        with pytest.raises(Unreachable) as failed:
            await client.get(PODS, "a", "default")
        assert failed.value.may_be_done


async def test_a_busy_server_is_asked_again_after_its_time() -> None:
    busy = refuse(429, "TooManyRequests", Retry_After="0")
    async with connect(busy, busy, say(A_POD, 201)) as (client, server):
        pod = await client.create(PODS, a_pod("a"), "default")
        assert pod.key == ("default", "a")
        assert len(server.asked) == 3


async def test_a_server_that_stays_busy_is_left_alone() -> None:
    busy = say(b"Too many requests, please try again later.\n", 429, Retry_After="0")
    async with connect(*[busy] * 9) as (client, server):
        with pytest.raises(Overloaded, match="please try again later") as failed:
            await client.get(PODS, "a", "default")
        assert not failed.value.may_be_done
        assert len(server.asked) == 4


async def test_a_page_of_some_proxy_is_quoted() -> None:
    async with connect(say(b"<html>Bad gateway</html>", 502)) as (client, _):
        with pytest.raises(ServerError, match=r"Bad gateway.*502"):
            await client.get(PODS, "a", "default")


async def test_an_answer_that_is_no_object_is_unreadable() -> None:
    async with connect(say(b"<html>log in</html>")) as (client, _):
        with pytest.raises(UnreadableResponse, match="the response about pods"):
            await client.get(PODS, "a", "default")


async def test_a_redirect_is_not_followed_with_our_token() -> None:
    async with connect(say(b"", 302, Location="http://elsewhere")) as (client, server):
        with pytest.raises(UnreadableResponse):
            await client.get(PODS, "a", "default")
        assert len(server.asked) == 1


# --- what is sent ---


async def test_a_bind_carries_the_uid_and_the_annotations() -> None:
    async with connect(say(b"{}", 201)) as (client, server):
        await client.bind("a", "default", uid="u", node="n1", annotations={"x": "y"})
        [asked] = server.asked
        assert (asked.method, asked.path) == ("POST", "/api/v1/namespaces/default/pods/a/binding")
        assert asked.json["metadata"] == {
            "name": "a",
            "namespace": "default",
            "uid": "u",
            "annotations": {"x": "y"},
        }
        assert asked.json["target"] == {"kind": "Node", "name": "n1"}


async def test_a_bind_of_a_pod_that_has_a_node_is_a_conflict() -> None:
    async with connect(refuse(409, "Conflict")) as (client, _):
        with pytest.raises(Conflict, match="bind pod default/a to n1"):
            await client.bind("a", "default", uid="u", node="n1")


async def test_each_kind_of_patch_is_sent_as_such() -> None:
    patches = [merge({"a": 1}), strategic({"a": 1}), edits([{"op": "test"}]), apply({"a": 1})]
    async with connect(*[say(b"{}")] * 4) as (client, server):
        for patch in patches:
            await client.patch(JOBS, "a", patch, "default", "status")
        kinds = [asked.headers["Content-Type"] for asked in server.asked]
        assert kinds == [
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/json-patch+json",
            "application/apply-patch+yaml",
        ]
        assert {asked.path for asked in server.asked} == {
            "/apis/batch/v1/namespaces/default/jobs/a/status"
        }
        assert server.asked[3].query == {"fieldManager": "fluxnetes", "force": "true"}
        names = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}
        assert server.asked[3].json == {**names, "a": 1}
        assert server.asked[2].json == [{"op": "test"}]


async def test_a_delete_is_of_that_very_object() -> None:
    async with connect(say(b"{}")) as (client, server):
        await client.delete(PODS, "a", "default", uid="u", grace=0)
        assert server.asked[0].json == {
            "propagationPolicy": "Background",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": "u"},
        }


async def test_a_created_object_says_what_it_is() -> None:
    async with connect(say(A_POD, 201)) as (client, server):
        await client.create(PODS, a_pod("a"), "default")
        assert (server.asked[0].json["apiVersion"], server.asked[0].json["kind"]) == ("v1", "Pod")


async def test_binds_wait_for_no_other_request() -> None:
    """All connections of the ordinary lane hang; a bind gets through."""
    many = 2 * Lane.REQUESTS.value
    async with serve() as server, KubeClient(access_to(server)) as client:
        server.script = [server.keep_silent] * Lane.REQUESTS.value + [say(b"{}", 201)]
        async with asyncio.TaskGroup() as tasks:
            waiting = [tasks.create_task(client.get(PODS, str(n), "x")) for n in range(many)]
            while len(server.asked) < Lane.REQUESTS.value:
                await asyncio.sleep(0.01)
            async with asyncio.timeout(10):
                await client.bind("a", "default", uid="u", node="n1")
            assert server.asked[-1].path.endswith("/binding")
            for task in waiting:
                task.cancel()


# --- who we are ---


async def test_a_refused_token_is_read_anew_at_once() -> None:
    tokens = ["old", "new"]

    async def source() -> CredentialReading:
        return CredentialReading(Credential(token=tokens.pop(0)))

    async with serve(say(A_POD), refuse(401), say(A_POD)) as server:
        credentials = Credentials(source, None)
        async with KubeClient(ApiAccess(server.address, credentials)) as client:
            await client.get(PODS, "a", "default")
            credentials._read_at -= 60
            await client.get(PODS, "a", "default")
    assert [asked.headers["Authorization"] for asked in server.asked] == [
        "Bearer old",
        "Bearer old",
        "Bearer new",
    ]


async def test_a_token_that_stays_refused_is_an_error() -> None:
    async with connect(refuse(401, "Unauthorized")) as (client, server):
        with pytest.raises(Unauthorized):
            await client.get(PODS, "a", "default")
        assert len(server.asked) == 1


def a_server_context(authority: Authority, folder: Path, *, ask: bool = False) -> ssl.SSLContext:
    """The server's side of TLS; if it asks, a client must show a certificate."""
    pair = folder / "server.pem"
    pair.write_text("\n".join(authority.sign("server")))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=authority.pem)
    context.load_cert_chain(pair)
    if ask:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


@pytest.mark.parametrize("inline", [True, False])
async def test_a_client_certificate_is_shown(tmp_path: Path, inline: bool) -> None:
    authority = Authority()
    certificate, key = authority.sign("us")
    user = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}
    if not inline:
        write(tmp_path / "us.crt", certificate)
        write(tmp_path / "us.key", key)
        user = {"client-certificate": "us.crt", "client-key": "us.key"}
    tls = a_server_context(authority, tmp_path, ask=True)
    async with serve(say(A_POD), tls=tls) as server:
        cluster = {
            "server": server.address,
            "certificate-authority-data": encoded(authority.pem),
        }
        path = write(tmp_path / "config", a_config(user, cluster))
        async with KubeClient(from_kubeconfig([path])) as client:
            assert (await client.get(PODS, "a", "default")).key == ("default", "a")


async def test_without_its_certificate_a_client_is_turned_away(tmp_path: Path) -> None:
    authority = Authority()
    tls = a_server_context(authority, tmp_path, ask=True)
    async with serve(say(A_POD), tls=tls) as server:
        cluster = {
            "server": server.address,
            "certificate-authority-data": encoded(authority.pem),
        }
        path = write(tmp_path / "config", a_config({}, cluster))
        async with KubeClient(from_kubeconfig([path])) as client:
            with pytest.raises(Unreachable):
                await client.get(PODS, "a", "default")
        assert server.asked == []


async def test_a_server_that_we_do_not_trust_gets_no_token(tmp_path: Path) -> None:
    tls = a_server_context(Authority(), tmp_path)
    async with serve(say(A_POD), tls=tls) as server:

        async def source() -> CredentialReading:
            return CredentialReading(Credential(token="secret"))  # noqa: S106

        access = ApiAccess(server.address, Credentials(source, ServerTrust(Authority().pem)))
        async with KubeClient(access) as client:
            with pytest.raises(Untrusted, match="check certificate-authority"):
                await client.get(PODS, "a", "default")
        careless = ApiAccess(server.address, Credentials(source, ServerTrust(verify=False)))
        async with KubeClient(careless) as client:
            await client.get(PODS, "a", "default")
        assert len(server.asked) == 1


async def test_the_name_in_the_certificate_may_be_another_if_configured(tmp_path: Path) -> None:
    authority = Authority()
    tls = a_server_context(authority, tmp_path)
    async with serve(say(A_POD), say(A_POD), tls=tls) as server:
        address = server.address.replace("127.0.0.1", "localhost")
        cluster = {"server": address, "certificate-authority-data": encoded(authority.pem)}
        path = write(tmp_path / "config", a_config({}, cluster))
        async with KubeClient(from_kubeconfig([path])) as client:
            with pytest.raises(Untrusted):
                await client.get(PODS, "a", "default")
        path = write(tmp_path / "config", a_config({}, {**cluster, "tls-server-name": "127.0.0.1"}))
        async with KubeClient(from_kubeconfig([path])) as client:
            await client.get(PODS, "a", "default")


async def test_a_pod_shows_its_token(tmp_path: Path) -> None:
    environment = a_service_account(tmp_path)
    authority = Authority()
    (tmp_path / "ca.crt").write_text(authority.pem)
    async with serve(say(A_POD), tls=a_server_context(authority, tmp_path)) as server:
        host, port = server.address.removeprefix("https://").split(":")
        environment |= {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        async with KubeClient(in_cluster(tmp_path, environment)) as client:
            await client.get(PODS, "a", "default")
        assert server.asked[0].headers["Authorization"] == "Bearer first"


async def test_with_a_proxy_all_requests_go_through_it() -> None:
    async with serve(say(A_POD), say(b"{}", 201)) as proxy:
        access = replace(access_to(proxy), server="http://cluster.invalid", proxy=proxy.address)
        async with KubeClient(access) as client:
            assert (await client.get(PODS, "a", "default")).key == ("default", "a")
            await client.bind("a", "default", uid="u", node="n1")
        assert [asked.headers["Host"] for asked in proxy.asked] == ["cluster.invalid"] * 2
        assert proxy.asked[1].path.endswith("/pods/a/binding")
