"""TLS and tokens: the identities of a server and its clients."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from fluxnetes.client import Client, Denied, Patience, Unavailable
from fluxnetes.common.certificates import (
    SignedCertificate,
    issue_client,
    issue_server,
    make_authority,
)
from tests.integration.client.conftest import Connect
from tests.integration.rpc.process import Serve

DAY = timedelta(days=1)
SOON = Patience(timeout=1.0)
TOKEN = "0123456789abcdef"  # noqa: S105 - of no server that lasts


@pytest.fixture(scope="module")
def authority() -> SignedCertificate:
    return make_authority("a test's", DAY)


@pytest.fixture(scope="module")
def secured(
    tmp_path_factory: pytest.TempPathFactory, authority: SignedCertificate
) -> Iterator[Serve]:
    """A server with a certificate of the authority, which clients need, too."""
    folder = tmp_path_factory.mktemp("tls")
    shown = issue_server(authority, "server", ("127.0.0.1",), ("localhost",), DAY)
    files = {"ca": authority.certificate, "cert": shown.certificate, "key": shown.key}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    options = ("--tls-cert", folder / "cert", "--tls-key", folder / "key")
    with Serve(folder, *options, "--client-ca", folder / "ca") as server:
        yield server


def test_both_sides_show_certificates(
    secured: Serve, authority: SignedCertificate, connect: Connect
) -> None:
    mine = issue_client(authority, "me", None, DAY)
    client = connect(
        secured.address,
        authority=authority.certificate,
        certificate=mine.certificate,
        key=mine.key,
    )
    assert client.status().source == "none"


def test_a_client_without_a_certificate_is_refused(
    secured: Serve, authority: SignedCertificate, connect: Connect
) -> None:
    client = connect(secured.address, authority=authority.certificate, patience=SOON)
    with pytest.raises(Unavailable):
        client.status()


def test_a_client_of_another_authority_is_refused(
    secured: Serve, authority: SignedCertificate, connect: Connect
) -> None:
    theirs = issue_client(make_authority("another", DAY), "them", None, DAY)
    client = connect(
        secured.address,
        authority=authority.certificate,
        certificate=theirs.certificate,
        key=theirs.key,
        patience=SOON,
    )
    with pytest.raises(Unavailable):
        client.status()


def test_a_server_of_another_authority_is_not_trusted(
    secured: Serve, authority: SignedCertificate, connect: Connect
) -> None:
    mine = issue_client(authority, "me", None, DAY)
    client = connect(
        secured.address,
        authority=make_authority("another", DAY).certificate,
        certificate=mine.certificate,
        key=mine.key,
        patience=SOON,
    )
    with pytest.raises(Unavailable):
        client.status()


def test_plain_text_is_not_answered_where_there_is_tls(secured: Serve, connect: Connect) -> None:
    with pytest.raises(Unavailable):
        connect(secured.address, patience=SOON).status()


def test_a_server_for_others_has_a_certificate_of_its_own(tmp_path: Path, connect: Connect) -> None:
    with Serve(tmp_path, "--host", "0.0.0.0") as server:  # noqa: S104 - that is what is tested
        address = server.address.replace("0.0.0.0", "localhost")  # noqa: S104
        authority = (tmp_path / "service" / "ca.crt").read_bytes()
        assert connect(address, authority=authority).status().source == "none"
        with pytest.raises(Unavailable):
            connect(address, patience=SOON).status()


def test_a_token_lets_in(tmp_path: Path, connect: Connect) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# for the tests\nme {TOKEN}\n")
    tokens.chmod(0o600)
    with Serve(tmp_path, "--token-file", tokens) as server:
        assert connect(server.address, token=TOKEN).status().source == "none"
        for token in ("", TOKEN + "0"):
            with pytest.raises(Denied, match="token"):
                connect(server.address, token=token).status()


def test_a_certificate_without_key_or_tls_is_refused(
    authority: SignedCertificate, connect: Connect
) -> None:
    mine = issue_client(authority, "me", None, DAY)
    with pytest.raises(ValueError, match="authority"):
        connect(certificate=mine.certificate, key=mine.key)
    with pytest.raises(ValueError, match="given together"):
        connect(authority=authority.certificate, certificate=mine.certificate)
    with pytest.raises(ValueError, match="given together"):
        Client(authority=authority.certificate, key=mine.key)
