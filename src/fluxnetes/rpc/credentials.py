"""TLS credentials of the server: from given files, or self-made by an authority of its own.

Files are checked at every handshake and read again when they changed, so certificates can be
renewed without a restart. Self-made certificates are renewed after two thirds of their lifetime.
The authority that signs them stays, so clients need its certificate only once.
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
_AUTHORITY_LIFETIME = timedelta(days=3650)
_LIFETIME = timedelta(days=90)


class InvalidCertificates(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """Certificate files that cannot be used."""


@dataclass(slots=True)
class CertificateFiles:
    """A certificate, its key and, if clients need certificates, the authority of theirs."""

    certificate: Path
    key: Path
    clients: Path | None = None
    own: OwnCertificates | None = None
    """Set if the certificate is self-made, to renew it."""
    _read_version: object = field(default=None, init=False)

    def credentials(self) -> grpc.ServerCredentials:
        """The credentials of a server, which follow the files. Raises InvalidCertificates."""
        first = self.read()
        return grpc.dynamic_ssl_server_credentials(
            first,
            self._fetch,  # type: ignore[arg-type]  # may return None: nothing new
            require_client_authentication=self.clients is not None,
        )

    def read(self) -> grpc.ServerCertificateConfiguration:
        """Read the files. Raises InvalidCertificates."""
        try:
            self._read_version = self._version()
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
        """The certificates to use from now on; None: no change. Called by a thread of gRPC."""
        try:
            if self.own is not None:
                self.own.renew()
            return self.read() if self._version() != self._read_version else None
        except (OSError, ValueError) as error:
            _log.warning("cannot read the new certificates, so the old ones stay in use: %s", error)
            return None

    def _version(self) -> object:
        files = [each for each in (self.certificate, self.key, self.clients) if each is not None]
        return [(each.stat().st_mtime_ns, each.stat().st_ino) for each in files]


def check_pair(key: bytes, certificate: bytes) -> None:
    """ValueError if the key is not the certificate's: only one of two files may be replaced yet."""
    [first, *_] = x509.load_pem_x509_certificates(certificate)
    try:
        mine = load_pem_private_key(key, password=None).public_key()
    except TypeError as error:  # raised if the key has a pass phrase
        raise ValueError(str(error)) from None
    if mine != first.public_key():
        raise ValueError("the key does not belong to the certificate")


@dataclass(frozen=True, slots=True)
class OwnCertificates:
    """Self-made certificates, in a folder of their own."""

    folder: Path
    names: tuple[str, ...] = ()
    """Names and addresses of the server, besides localhost and the host name."""

    @property
    def authority(self) -> Path:
        """The certificate of the authority, for clients."""
        return self.folder / AUTHORITY

    def files(self, clients: Path | None = None) -> CertificateFiles:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.renew()
        return CertificateFiles(self.folder / CERTIFICATE, self.folder / KEY, clients, self)

    def renew(self) -> None:
        """Make certificates that are missing or due for renewal."""
        now = datetime.now(UTC)
        authority = self._read(AUTHORITY, AUTHORITY_KEY)
        if authority is None:
            authority = make_authority("fluxnetes service", _AUTHORITY_LIFETIME)
            self._write(AUTHORITY, AUTHORITY_KEY, authority)
            serving = None
        else:
            serving = self._read(CERTIFICATE, KEY)
        if serving is None or self._is_due(serving, now):
            names, addresses = self._subjects()
            made = issue_server(authority, "fluxnetes service", addresses, names, _LIFETIME)
            self._write(CERTIFICATE, KEY, made)

    def _is_due(self, serving: SignedCertificate, now: datetime) -> bool:
        found = x509.load_pem_x509_certificate(serving.certificate)
        known = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names, addresses = self._subjects()
        there = set(known.get_values_for_type(x509.DNSName))
        there |= {str(each) for each in known.get_values_for_type(x509.IPAddress)}
        lifetime = found.not_valid_after_utc - found.not_valid_before_utc
        return now > found.not_valid_before_utc + lifetime * 2 / 3 or not there >= {
            *names,
            *addresses,
        }

    def _subjects(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """All names and all addresses of the server."""
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
