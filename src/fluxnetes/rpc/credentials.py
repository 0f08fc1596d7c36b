"""TLS for the server: from files that are given, or with certificates of our own.

Files are looked at again at every handshake, and read when they changed: whoever renews them need
not restart us. What we make ourselves we renew when two thirds of its time are over. The authority
that signs it stays, so clients are given its certificate once.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from fluxnetes.common.certificates import SignedCertificate, issue_server, make_authority

_log = logging.getLogger("fluxnetes.rpc")

AUTHORITY, AUTHORITY_KEY = "ca.crt", "ca.key"
CERTIFICATE, KEY = "tls.crt", "tls.key"
_AUTHORITY_LASTS = timedelta(days=3650)
_LASTS = timedelta(days=90)


class InvalidCertificates(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """Files that cannot be used."""


@dataclass(slots=True)
class CertificateFiles:
    """A certificate and its key and, if clients must show one, who signs theirs."""

    certificate: Path
    key: Path
    clients: Path | None = None
    own: OwnCertificates | None = None
    """Set if the certificate is one of ours, which we renew."""
    _seen: object = field(default=None, init=False)

    def credentials(self) -> grpc.ServerCredentials:
        """What a server needs, for as long as it runs."""
        first = self.read()
        return grpc.dynamic_ssl_server_credentials(
            first,
            self._fetch,  # type: ignore[arg-type]  # it may say that there is nothing new
            require_client_authentication=self.clients is not None,
        )

    def read(self) -> grpc.ServerCertificateConfiguration:
        """The files as they are. Raises BadCertificates."""
        try:
            self._seen = self._look()
            pair = (self.key.read_bytes(), self.certificate.read_bytes())
            check_pair(*pair)
            clients = None if self.clients is None else self.clients.read_bytes()
            if clients is not None:
                x509.load_pem_x509_certificates(clients)
        except (OSError, ValueError) as error:
            files = [self.certificate, self.key, *([self.clients] if self.clients else ())]
            raise InvalidCertificates(f"{', '.join(map(str, files))}: {error}") from error
        return grpc.ssl_server_certificate_configuration([pair], clients)

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """What to use from now on; None: what is in use. Called by a thread of gRPC."""
        try:
            if self.own is not None:
                self.own.renew()
            return self.read() if self._look() != self._seen else None
        except (OSError, ValueError) as error:
            _log.warning("the certificates stay as they were: %s", error)
            return None

    def _look(self) -> object:
        files = [each for each in (self.certificate, self.key, self.clients) if each is not None]
        return [(each.stat().st_mtime_ns, each.stat().st_ino) for each in files]


def check_pair(key: bytes, certificate: bytes) -> None:
    """ValueError if that is not a certificate and its key: one of two files may be new already."""
    [first, *_] = x509.load_pem_x509_certificates(certificate)
    try:
        mine = load_pem_private_key(key, password=None).public_key()
    except TypeError as error:  # what the library says when there is a pass phrase
        raise ValueError(str(error)) from None
    if mine != first.public_key():
        raise ValueError("the key is not that of the certificate")


@dataclass(frozen=True, slots=True)
class OwnCertificates:
    """Certificates that we make ourselves, in a folder that is ours alone."""

    folder: Path
    names: tuple[str, ...] = ()
    """What clients call us, besides this machine's own names."""

    @property
    def authority(self) -> Path:
        """What clients need to trust us."""
        return self.folder / AUTHORITY

    def files(self, clients: Path | None = None) -> CertificateFiles:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.renew()
        return CertificateFiles(self.folder / CERTIFICATE, self.folder / KEY, clients, self)

    def renew(self) -> None:
        """Make what is missing or due."""
        now = datetime.now(UTC)
        authority = self._read(AUTHORITY, AUTHORITY_KEY)
        if authority is None:
            authority = make_authority("fluxnetes service", _AUTHORITY_LASTS)
            self._write(AUTHORITY, AUTHORITY_KEY, authority)
            serving = None
        else:
            serving = self._read(CERTIFICATE, KEY)
        if serving is None or self._is_due(serving, now):
            names, addresses = self._called()
            made = issue_server(authority, "fluxnetes service", addresses, names, _LASTS)
            self._write(CERTIFICATE, KEY, made)

    def _is_due(self, serving: SignedCertificate, now: datetime) -> bool:
        found = x509.load_pem_x509_certificate(serving.certificate)
        known = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names, addresses = self._called()
        there = set(known.get_values_for_type(x509.DNSName))
        there |= {str(each) for each in known.get_values_for_type(x509.IPAddress)}
        lasts = found.not_valid_after_utc - found.not_valid_before_utc
        return now > found.not_valid_before_utc + lasts * 2 / 3 or not there >= {*names, *addresses}

    def _called(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """All names and all addresses that clients may know us by."""
        names, addresses = {"localhost", socket.gethostname()}, {"127.0.0.1", "::1"}
        for each in self.names:
            try:
                addresses.add(str(ipaddress.ip_address(each)))
            except ValueError:
                names.add(each)
        return tuple(sorted(names)), tuple(sorted(addresses))

    def _read(self, certificate: str, key: str) -> SignedCertificate | None:
        try:
            found = SignedCertificate(
                (self.folder / certificate).read_bytes(), (self.folder / key).read_bytes()
            )
            check_pair(found.key, found.certificate)
        except (FileNotFoundError, ValueError):
            return None
        return found

    def _write(self, certificate: str, key: str, made: SignedCertificate) -> None:
        for name, content, mode in ((key, made.key, 0o600), (certificate, made.certificate, 0o644)):
            new = self.folder / f".{name}.new"
            new.unlink(missing_ok=True)
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            new.replace(self.folder / name)
