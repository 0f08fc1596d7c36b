"""Makes certificate authorities, and server and client certificates signed by them.

All are values in PEM; storage and rotation are the caller's responsibility. Keys are on the curve
P-256: quick to make, and supported by every client of Kubernetes. An authority may have an RSA key
instead: that takes longer to make, but what it signs is verified in a quarter of the time, and a
Kubernetes API server verifies the certificates of its clients at every request.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

_RSA_BITS = 2048
"""Length of RSA keys: the shortest in common use, because longer ones take longer to verify."""
CLOCKS_DIFFER_BY = timedelta(minutes=5)
"""How long before its creation a certificate is valid, so that peers with slow clocks accept it."""


@dataclass(frozen=True, slots=True)
class SignedCertificate:
    """A certificate and its key."""

    certificate: bytes
    key: bytes


def make_authority(
    name: str, lasts: timedelta, now: datetime | None = None, *, rsa_key: bool = False
) -> SignedCertificate:
    """A self-signed authority."""
    key = rsa.generate_private_key(65537, _RSA_BITS) if rsa_key else _new_key()
    subject = _name(name)
    made = (
        _builder(subject, subject, key, key, lasts, now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return SignedCertificate(made.public_bytes(Encoding.PEM), key_text(key))


def issue_server(
    authority: SignedCertificate,
    name: str,
    addresses: tuple[str, ...],
    names: tuple[str, ...],
    lasts: timedelta,
    now: datetime | None = None,
) -> SignedCertificate:
    """A certificate for a server that is reached at these addresses and names."""
    alternative_names: list[x509.GeneralName] = [x509.DNSName(each) for each in names]
    alternative_names += [x509.IPAddress(ipaddress.ip_address(each)) for each in addresses]
    return _issue(
        authority, _name(name), ExtendedKeyUsageOID.SERVER_AUTH, alternative_names, lasts, now
    )


def issue_client(
    authority: SignedCertificate,
    user: str,
    group: str | None,
    lasts: timedelta,
    now: datetime | None = None,
) -> SignedCertificate:
    """A certificate that authenticates its holder as `user`, a member of `group`."""
    purpose = ExtendedKeyUsageOID.CLIENT_AUTH
    return _issue(authority, _name(user, group), purpose, [], lasts, now)


def make_key_pair() -> SignedCertificate:
    """A key without a certificate: `certificate` holds the public key instead."""
    key = _new_key()
    form = PublicFormat.SubjectPublicKeyInfo
    return SignedCertificate(key.public_key().public_bytes(Encoding.PEM, form), key_text(key))


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def key_text(key: Key) -> bytes:
    """A key in PEM, without a pass phrase."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


def read_key(text: bytes) -> Key:
    """The private key, elliptic curve or RSA, in a PEM text without a pass phrase.

    Raises ValueError for anything else.
    """
    try:
        key = load_pem_private_key(text, password=None)
    except TypeError as error:  # what the library raises when there is a pass phrase
        raise ValueError(str(error)) from None
    if not isinstance(key, Key):
        raise ValueError(f"expected an elliptic curve or RSA key, found {type(key).__name__}")
    return key


def _issue(
    authority: SignedCertificate,
    subject: x509.Name,
    purpose: x509.ObjectIdentifier,
    alternative_names: list[x509.GeneralName],
    lasts: timedelta,
    now: datetime | None,
) -> SignedCertificate:
    issuer, signer = x509.load_pem_x509_certificate(authority.certificate), read_key(authority.key)
    key = _new_key()
    builder = (
        _builder(subject, issuer.subject, key, signer, lasts, now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    )
    if alternative_names:
        builder = builder.add_extension(
            x509.SubjectAlternativeName(alternative_names), critical=False
        )
    made = builder.sign(signer, hashes.SHA256())
    return SignedCertificate(made.public_bytes(Encoding.PEM), key_text(key))


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: Key,
    signer: Key,
    lasts: timedelta,
    now: datetime | None,
) -> x509.CertificateBuilder:
    begins = now or datetime.now(UTC)
    # With these key identifiers a verifier distinguishes authorities of the same name.
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    of_signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins - CLOCKS_DIFFER_BY)
        .not_valid_after(begins + lasts)
        .add_extension(own, critical=False)
        .add_extension(of_signer, critical=False)
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
