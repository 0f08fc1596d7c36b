"""TLS: certificates of our own or from files, looked at again at every handshake."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.x509 import Certificate

from fluxnetes.common.certificates import (
    SignedCertificate,
    issue_client,
    issue_server,
    make_authority,
)
from fluxnetes.rpc.credentials import CertificateFiles, InvalidCertificates, OwnCertificates
from fluxnetes.rpc.server import ServerSettings
from tests.unit.rpc.serving import served, status

DAY = timedelta(days=1)


def certificate(path: Path) -> Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def names(found: Certificate) -> set[str]:
    known = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = {str(each) for each in known.get_values_for_type(x509.IPAddress)}
    return set(known.get_values_for_type(x509.DNSName)) | addresses


def write(folder: Path, made: SignedCertificate, name: str = "tls") -> tuple[Path, Path]:
    """Put a certificate and its key where a server looks for them."""
    folder.mkdir(exist_ok=True)
    paths = folder / f"{name}.crt", folder / f"{name}.key"
    for path, content in zip(paths, (made.certificate, made.key), strict=True):
        new = path.with_suffix(".new")
        new.write_bytes(content)
        new.replace(path)
    return paths


def a_server(
    authority: SignedCertificate, lasts: timedelta = DAY, now: datetime | None = None
) -> SignedCertificate:
    return issue_server(authority, "test", ("127.0.0.1",), ("localhost",), lasts, now)


def trusting(authority: bytes, client: SignedCertificate | None = None) -> grpc.ChannelCredentials:
    if client is None:
        return grpc.ssl_channel_credentials(authority)
    return grpc.ssl_channel_credentials(authority, client.key, client.certificate)


async def can_call(address: str, shown: grpc.ChannelCredentials) -> bool:
    """Whether a client that comes anew gets an answer."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.secure_channel(address, shown, options) as channel:
        try:
            return (await status(channel)).policy == "lonode"
        except grpc.aio.AioRpcError as error:
            assert error.code() is grpc.StatusCode.UNAVAILABLE
            return False


# -- of our own ------------------------------------------------------------------------------------


async def test_with_certificates_of_our_own_clients_who_trust_our_authority_can_call(
    tmp_path: Path,
) -> None:
    own = OwnCertificates(tmp_path / "service")
    async with served(ServerSettings("127.0.0.1:0", own.files())) as up:
        assert await can_call(up.address, trusting(own.authority.read_bytes()))
        stranger = make_authority("stranger", DAY)
        assert not await can_call(up.address, trusting(stranger.certificate))
        async with grpc.aio.insecure_channel(up.address) as plain:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await status(plain)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


def test_keys_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    own = OwnCertificates(tmp_path / "service")
    own.files()
    assert stat.S_IMODE(own.folder.stat().st_mode) == 0o700
    for key in ("ca.key", "tls.key"):
        assert stat.S_IMODE((own.folder / key).stat().st_mode) == 0o600


def test_our_certificate_is_for_all_names_we_are_called_by(tmp_path: Path) -> None:
    files = OwnCertificates(tmp_path, ("match.example.org", "10.0.0.7", "fd00::7")).files()
    usual = {"localhost", "127.0.0.1", "::1"}
    wanted = usual | {"match.example.org", "10.0.0.7", "fd00::7"}
    assert names(certificate(files.certificate)) >= wanted


def test_what_is_there_and_good_is_used_again(tmp_path: Path) -> None:
    before = OwnCertificates(tmp_path).files()
    was = before.certificate.read_bytes(), (tmp_path / "ca.crt").read_bytes()
    OwnCertificates(tmp_path).files()
    assert (before.certificate.read_bytes(), (tmp_path / "ca.crt").read_bytes()) == was


def test_another_name_needs_another_certificate_but_no_other_authority(tmp_path: Path) -> None:
    OwnCertificates(tmp_path).files()
    authority = (tmp_path / "ca.crt").read_bytes()
    files = OwnCertificates(tmp_path, ("other.example.org",)).files()
    assert "other.example.org" in names(certificate(files.certificate))
    assert (tmp_path / "ca.crt").read_bytes() == authority


@pytest.mark.parametrize(("passed", "renewed"), [(0.5, False), (0.7, True), (1.5, True)])
def test_ours_is_renewed_when_two_thirds_of_its_time_are_over(
    tmp_path: Path, passed: float, renewed: bool
) -> None:
    own = OwnCertificates(tmp_path)
    own.files()
    authority = SignedCertificate(
        *(own.authority.with_suffix(s).read_bytes() for s in (".crt", ".key"))
    )
    lasts = timedelta(days=90)
    made = datetime.now(UTC) - lasts * passed
    addresses, called = ("127.0.0.1", "::1"), ("localhost", os.uname().nodename)
    old = issue_server(authority, "test", addresses, called, lasts, made)
    write(tmp_path, old)
    own.renew()
    assert ((tmp_path / "tls.crt").read_bytes() != old.certificate) == renewed


@pytest.mark.parametrize("broken", ["tls.crt", "tls.key", "ca.crt"])
@pytest.mark.parametrize("how", ["missing", "nonsense"])
async def test_what_is_lost_or_spoiled_is_made_again(tmp_path: Path, broken: str, how: str) -> None:
    own = OwnCertificates(tmp_path)
    own.files()
    if how == "missing":
        (tmp_path / broken).unlink()
    else:
        (tmp_path / broken).write_text("-----BEGIN NONSENSE-----\n")
    async with served(ServerSettings("127.0.0.1:0", own.files())) as up:
        assert await can_call(up.address, trusting(own.authority.read_bytes()))


async def test_a_server_that_runs_renews_its_own(tmp_path: Path) -> None:
    own = OwnCertificates(tmp_path)
    async with served(ServerSettings("127.0.0.1:0", own.files())) as up:
        trust = trusting(own.authority.read_bytes())
        assert await can_call(up.address, trust)
        authority = SignedCertificate(
            *(own.authority.with_suffix(s).read_bytes() for s in (".crt", ".key"))
        )
        old = issue_server(
            authority, "old", ("127.0.0.1",), ("localhost",), 3 * DAY, datetime.now(UTC) - 4 * DAY
        )
        write(tmp_path, old)
        assert await can_call(up.address, trust)
        assert certificate(tmp_path / "tls.crt").not_valid_after_utc > datetime.now(UTC) + 80 * DAY


# -- from files ------------------------------------------------------------------------------------


async def test_files_that_changed_are_used_without_a_restart(tmp_path: Path) -> None:
    first, second = make_authority("first", DAY), make_authority("second", DAY)
    files = CertificateFiles(*write(tmp_path, a_server(first)))
    async with served(ServerSettings("127.0.0.1:0", files)) as up:
        assert await can_call(up.address, trusting(first.certificate))
        assert not await can_call(up.address, trusting(second.certificate))
        write(tmp_path, a_server(second))
        assert await can_call(up.address, trusting(second.certificate))
        assert not await can_call(up.address, trusting(first.certificate))


async def test_files_that_make_no_sense_any_more_change_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    authority = make_authority("first", DAY)
    files = CertificateFiles(*write(tmp_path, a_server(authority)))
    async with served(ServerSettings("127.0.0.1:0", files)) as up:
        other = a_server(authority)
        for spoil in (
            lambda: files.certificate.write_bytes(other.certificate),  # the key is not there yet
            lambda: files.certificate.write_text("nonsense"),
            lambda: files.certificate.unlink(),
        ):
            spoil()
            assert await can_call(up.address, trusting(authority.certificate))
        assert "the old ones stay in use" in caplog.text


@pytest.mark.parametrize("broken", ["tls.crt", "tls.key", "clients.crt"])
@pytest.mark.parametrize("how", ["missing", "nonsense"])
def test_to_begin_with_files_that_make_no_sense_are_refused(
    tmp_path: Path, broken: str, how: str
) -> None:
    authority = make_authority("first", DAY)
    clients, _ = write(tmp_path, authority, "clients")
    files = CertificateFiles(*write(tmp_path, a_server(authority)), clients)
    (tmp_path / broken).unlink()
    if how == "nonsense":
        (tmp_path / broken).write_text("nonsense")
    with pytest.raises(InvalidCertificates, match=broken):
        files.credentials()


def test_a_key_that_is_not_the_certificates_is_refused(tmp_path: Path) -> None:
    authority = make_authority("first", DAY)
    files = CertificateFiles(*write(tmp_path, a_server(authority)))
    files.key.write_bytes(a_server(authority).key)
    with pytest.raises(InvalidCertificates, match="key"):
        files.credentials()


# -- clients that must show one --------------------------------------------------------------------


async def test_with_an_authority_for_clients_only_those_it_signed_can_call(
    tmp_path: Path,
) -> None:
    own, clients = OwnCertificates(tmp_path / "service"), make_authority("clients", DAY)
    theirs, _ = write(tmp_path, clients, "clients")
    async with served(ServerSettings("127.0.0.1:0", own.files(theirs))) as up:
        ours = own.authority.read_bytes()
        ada = issue_client(clients, "ada", None, DAY)
        assert await can_call(up.address, trusting(ours, ada))
        assert not await can_call(up.address, trusting(ours))
        stranger = issue_client(make_authority("clients", DAY), "ada", None, DAY)
        assert not await can_call(up.address, trusting(ours, stranger))
        late = issue_client(clients, "ada", None, DAY, datetime.now(UTC) - 2 * DAY)
        assert not await can_call(up.address, trusting(ours, late))
        assert await can_call(up.address, trusting(ours, ada))


async def test_another_authority_for_clients_counts_from_the_next_handshake_on(
    tmp_path: Path,
) -> None:
    own, first, second = (
        OwnCertificates(tmp_path / "service"),
        make_authority("first", DAY),
        make_authority("second", DAY),
    )
    theirs, _ = write(tmp_path, first, "clients")
    async with served(ServerSettings("127.0.0.1:0", own.files(theirs))) as up:
        ours = own.authority.read_bytes()
        ada, bob = (issue_client(each, "x", None, DAY) for each in (first, second))
        assert await can_call(up.address, trusting(ours, ada))
        write(tmp_path, second, "clients")
        assert await can_call(up.address, trusting(ours, bob))
        assert not await can_call(up.address, trusting(ours, ada))
