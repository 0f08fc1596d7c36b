"""Who may speak to whom: an authority of the plane's own, and what it signs.

The API server trusts whoever shows a certificate of the authority, and takes the name and the
groups from it. So each program has one that says which program it is, and RBAC does the rest.

The authority and the key that signs service account tokens stay as long as the folder: kubeconfigs
and tokens that were handed out go on working. Everything else is issued anew at each start, and so
never expires in a folder that is used.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from fluxnetes.plane.places import write_whole

_LEAF = timedelta(days=365)
_AUTHORITY = timedelta(days=3650)
_CLOCKS_DIFFER_BY = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its key, in PEM files."""

    certificate: Path
    key: Path


class Authority:
    """The certificate authority of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.files = self._files("ca")
        if not self.files.certificate.exists():
            self._make()
        self._certificate = x509.load_pem_x509_certificate(self.files.certificate.read_bytes())
        self._key = _read_key(self.files.key)

    def issue_server(
        self, name: str, addresses: tuple[str, ...], names: tuple[str, ...]
    ) -> Certificate:
        """A certificate for a server that is reached at these addresses and names."""
        known_as: list[x509.GeneralName] = [x509.DNSName(each) for each in names]
        known_as += [x509.IPAddress(ipaddress.ip_address(each)) for each in addresses]
        return self._issue(name, _name(name), ExtendedKeyUsageOID.SERVER_AUTH, known_as)

    def issue_client(self, name: str, user: str, group: str | None = None) -> Certificate:
        """A certificate that says: this is `user`, of `group`."""
        return self._issue(name, _name(user, group), ExtendedKeyUsageOID.CLIENT_AUTH, [])

    def signing_key(self, name: str) -> Certificate:
        """A key pair without a certificate, made once: the public half is in `certificate`."""
        files = self._files(name)
        if not files.key.exists():
            key = ec.generate_private_key(ec.SECP256R1())
            public = key.public_key()
            form = PublicFormat.SubjectPublicKeyInfo
            write_whole(files.certificate, public.public_bytes(Encoding.PEM, form))
            _write_key(files.key, key)  # last: it says that both are there
        return files

    def _make(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("fluxnetes plane")
        made = (
            _builder(name, name, key, _AUTHORITY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        _write_key(self.files.key, key)
        write_whole(self.files.certificate, made.public_bytes(Encoding.PEM))

    def _issue(
        self,
        name: str,
        subject: x509.Name,
        purpose: x509.ObjectIdentifier,
        known_as: list[x509.GeneralName],
    ) -> Certificate:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(subject, self._certificate.subject, key, _LEAF)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        )
        if known_as:
            builder = builder.add_extension(x509.SubjectAlternativeName(known_as), critical=False)
        files = self._files(name)
        _write_key(files.key, key)
        signed = builder.sign(self._key, hashes.SHA256())
        write_whole(files.certificate, signed.public_bytes(Encoding.PEM))
        return files

    def _files(self, name: str) -> Certificate:
        return Certificate(self._folder / f"{name}.crt", self._folder / f"{name}.key")


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, lasts: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_DIFFER_BY)
        .not_valid_after(now + lasts)
    )


def _name(common: str, organization: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if organization:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(parts)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    plain = NoEncryption()
    write_whole(path, key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, plain))


def _read_key(path: Path) -> ec.EllipticCurvePrivateKey:
    key = load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{path}: expected an elliptic curve key, found {type(key).__name__}")
    return key
