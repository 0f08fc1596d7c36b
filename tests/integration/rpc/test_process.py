"""`fluxnetes serve` as a process: what it starts with, how it ends, and that it can come back."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from fluxnetes.common.certificates import issue_client, make_authority
from fluxnetes.v1 import jobs_pb2
from fluxnetes.v1 import resources_pb2 as v1
from tests.integration.rpc.conftest import Speak, crash
from tests.integration.rpc.graphs import a_cluster, of_kubernetes
from tests.integration.rpc.jobspecs import slots
from tests.integration.rpc.ours import Ours
from tests.integration.rpc.process import Serve
from tests.integration.rpc.waiting import until

EXAMPLES = Path(__file__).parents[3] / "examples"
R = {"R_lite": [{"rank": "0-1", "children": {"core": "0-3"}}], "nodelist": ["fluke[0-1]"]}

Look = Callable[[Serve], Ours]

REFUSED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAUTHENTICATED)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """A file with two nodes of four cores."""
    file = tmp_path / "cluster.json"
    file.write_text(of_kubernetes({"a": ["n1", "n2"]}))
    return file


def test_it_ends_well_on_a_signal(tmp_path: Path) -> None:
    server = Serve(tmp_path).start()
    assert server.stop() == 0


@pytest.mark.parametrize("how", [(), ("--queue",)])
def test_it_need_not_find_its_store_first(tmp_path: Path, cluster: Path, how: tuple[str]) -> None:
    unreachable = "postgres://nobody@127.0.0.1:1/nothing"
    server = Serve(tmp_path, "--graph", cluster, "--store", "--dsn", unreachable, *how)
    server.begin()
    until(lambda: "waiting for Postgres" in server.log.read_text())
    assert server.stop() == 0


def test_of_a_graph_file_the_format_is_seen(tmp_path: Path, look: Look) -> None:
    rv1 = tmp_path / "R.json"
    rv1.write_text(json.dumps({"version": 1, "execution": R}))
    jgf = tmp_path / "graph.json"
    jgf.write_text(a_cluster(2, 3))
    for file, free in (
        (rv1, {"fluke0": 4, "fluke1": 4}),
        (jgf, {"node0": 3, "node1": 3}),
        (EXAMPLES / "cluster.graphml", {f"node{n}": 16 for n in range(8)}),
    ):
        with Serve(tmp_path, "--graph", file) as server:
            assert look(server).free() == free


@pytest.mark.parametrize(
    ("dialect", "ask", "number"),
    [
        ("jobspec", {"jobspec": slots(2, 4)}, "jobid"),
        ("podspec", {"podspec": {"cpu": 4}, "count": 2}, "fluxID"),
        ("fluxcli", {"ps": {"cpu": 4}, "count": 2}, "jobID"),
    ],
)
def test_after_a_restart_clients_find_it_again_and_begin_anew(
    tmp_path: Path,
    cluster: Path,
    speak: Speak,
    look: Look,
    dialect: str,
    ask: dict[str, object],
    number: str,
) -> None:
    with Serve(tmp_path, "--dialect", dialect, "--graph", cluster) as server:
        client, ours = speak(dialect, server), look(server)
        assert getattr(client("Match", **ask), number) == 1
        assert sum(ours.free().values()) == 0
        address = server.address
        crash(server)
        assert server.address == address
        assert sum(ours.free().values()) == 8
        assert getattr(client("Match", **ask), number) == 1


def test_a_service_that_was_not_asked_for_is_not_there(
    tmp_path: Path, cluster: Path, speak: Speak, look: Look
) -> None:
    with Serve(tmp_path, "--dialect", "none", "--graph", cluster) as server:
        for dialect, method in (
            ("jobspec", "Match"),
            ("fluxcli", "Match"),
            ("external", "ListGroups"),
        ):
            with pytest.raises(grpc.RpcError) as refused:
                speak(dialect, server)(method)
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert look(server).match(slots(1, 1)).id == 1


def test_two_on_one_port_would_share_the_calls_so_the_second_is_refused(
    tmp_path: Path,
) -> None:
    with Serve(tmp_path) as first:
        second = Serve(tmp_path)
        second.address = first.address
        assert "cannot listen on 127.0.0.1:" in second.fail()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--dialect", "jobspec", "--dialect", "podspec"), "same name on the wire"),
        (("--dialect", "klingon"), "there is no dialect 'klingon'"),
        (("--policy", "best", "--graph", "GRAPH"), "best"),
        (("--graph", "GRAPH", "--format", "jpeg"), "jpeg"),
        (("--tls-cert", "cert.pem"), "--tls-cert and --tls-key must be given together"),
        (("--token-file", "/nowhere"), "/nowhere"),
        (("--log-level", "loud"), "--log-level loud: expected one of debug"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    tmp_path: Path, cluster: Path, options: tuple[str, ...], why: str
) -> None:
    arguments = [str(cluster) if each == "GRAPH" else each for each in options]
    said = Serve(tmp_path, *arguments).fail()
    assert said.startswith("fluxnetes serve: ")
    assert why in said
    assert "Traceback" not in (tmp_path / "serve.log").read_text()


def test_a_policy_that_makes_no_sense_is_refused_also_where_the_graph_comes_later(
    tmp_path: Path,
) -> None:
    assert "best" in Serve(tmp_path, "--policy", "best").fail()


# -- for others than this machine ------------------------------------------------------------------


def answers(server: Serve, shown: grpc.ChannelCredentials | None, token: str = "") -> bool:
    """Whether a client with these credentials is answered."""
    address = f"localhost:{server.port}"
    channel = (
        grpc.insecure_channel(address) if shown is None else grpc.secure_channel(address, shown)
    )
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    with channel:
        call = channel.unary_unary(
            "/fluxnetes.v1.ResourceService/GetStatus",
            v1.GetStatusRequest.SerializeToString,
            v1.GetStatusResponse.FromString,
        )
        try:
            call(v1.GetStatusRequest(), timeout=20, metadata=metadata)
        except grpc.RpcError as error:
            assert error.code() in REFUSED
            return False
        return True


def test_where_others_can_listen_it_speaks_tls_by_default(tmp_path: Path) -> None:
    with Serve(tmp_path, "--host", "0.0.0.0") as server:  # noqa: S104 - that is the question
        trust = grpc.ssl_channel_credentials((tmp_path / "service" / "ca.crt").read_bytes())
        assert answers(server, trust)
        assert not answers(server, None)
    with Serve(tmp_path, "--host", "0.0.0.0", "--plaintext") as server:  # noqa: S104
        assert answers(server, None)


def test_with_an_authority_for_clients_it_speaks_tls_on_this_machine_too(tmp_path: Path) -> None:
    clients = make_authority("clients", timedelta(days=1))
    (tmp_path / "clients.crt").write_bytes(clients.certificate)
    with Serve(tmp_path, "--client-ca", tmp_path / "clients.crt") as server:
        ours = (tmp_path / "service" / "ca.crt").read_bytes()
        ada = issue_client(clients, "ada", None, timedelta(days=1))
        assert answers(server, grpc.ssl_channel_credentials(ours, ada.key, ada.certificate))
        assert not answers(server, grpc.ssl_channel_credentials(ours))
        assert not answers(server, None)


def test_with_tokens_only_callers_that_show_one_are_answered(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ada 0123456789abcdef\n")
    tokens.chmod(0o600)
    with Serve(tmp_path, "--token-file", tokens) as server:
        assert answers(server, None, "0123456789abcdef")
        assert not answers(server, None, "fedcba9876543210")
        assert not answers(server, None)


def test_what_an_old_client_of_a_matcher_does_not_renew_is_taken_back(
    tmp_path: Path, speak: Speak
) -> None:
    with Serve(tmp_path, "--renew-within", "1") as server, Ours(server.address) as ours:
        ours.load(a_cluster(1, 2))
        kept = ours.match(slots(1, 1)).id
        lost = speak("jobspec", server)("Match", jobspec=slots(1, 1)).jobid

        def is_released() -> bool:
            assert ours(jobs_pb2.RenewRequest(job=kept)).HasField("expires")
            return lost not in ours.holders()

        until(is_released)
        assert set(ours.holders()) == {kept}
