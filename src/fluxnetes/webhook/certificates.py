"""The webhook's certificates: which exist, and when the next ones are due.

The API server trusts the webhook because the registration holds the certificate of the webhook's
authority (`caBundle`), and the webhook presents one that the authority signed. Both expire, so both
are renewed after two thirds of their time, without an interruption:

    authority   |------- old -------------------|
                                    |------- new ------------------- ...
    registered         old          |  both     |        new
    signed by          old          |old|              new

A new authority signs nothing until it has settled, that is until every API server has certainly
read the registration with it. The old one stays registered until it expires.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding

from fluxnetes.common.certificates import (
    CLOCKS_DIFFER_BY,
    SignedCertificate,
    issue_server,
    make_authority,
    read_key,
)

NAME = "fluxnetes webhook"

_log = logging.getLogger("fluxnetes.webhook")


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Lifetimes of the certificates."""

    authority: timedelta = timedelta(days=365)
    serving: timedelta = timedelta(days=30)
    settle: timedelta = timedelta(minutes=10)
    """Time from the creation of an authority until all API servers trust it."""


@dataclass(frozen=True, slots=True)
class ServedAs:
    """The host names and addresses by which the API server reaches the webhook; its certificate
    must have them."""

    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificates:
    """The certificates and keys that all replicas share."""

    authorities: tuple[bytes, ...]
    """The newest first."""
    authority_key: bytes
    """The key of the newest authority."""
    serving: SignedCertificate

    @property
    def bundle(self) -> bytes:
        """The authorities that the API server must trust."""
        return b"".join(self.authorities)

    def contents(self) -> dict[str, bytes]:
        """The contents to store, by name."""
        return {
            "ca.crt": self.bundle,
            "ca.key": self.authority_key,
            "tls.crt": self.serving.certificate,
            "tls.key": self.serving.key,
        }


def read_certificates(contents: Mapping[str, bytes]) -> Certificates | None:
    """The stored certificates; None if there are none, or they are not usable."""
    try:
        found = _read(contents)
    except (KeyError, ValueError, IndexError) as error:
        if contents:
            _log.warning("the stored certificates are not usable (%s); creating new ones", error)
        return None
    return found


def _read(contents: Mapping[str, bytes]) -> Certificates:
    authorities = x509.load_pem_x509_certificates(contents["ca.crt"])
    ca_key, tls_key = read_key(contents["ca.key"]), read_key(contents["tls.key"])
    serving = x509.load_pem_x509_certificate(contents["tls.crt"])
    if authorities[0].public_key() != ca_key.public_key():
        raise ValueError("ca.key is not the key of ca.crt")
    if serving.public_key() != tls_key.public_key():
        raise ValueError("tls.key is not the key of tls.crt")
    return Certificates(
        tuple(each.public_bytes(Encoding.PEM) for each in authorities),
        contents["ca.key"],
        SignedCertificate(contents["tls.crt"], contents["tls.key"]),
    )


# --- renewal -----------------------------------------------------------------------------------


def renew(
    stored: Certificates | None, served_as: ServedAs, lifetimes: Lifetimes, now: datetime
) -> Certificates:
    """The certificates to use now: the same ones, if none is due."""
    if stored is None or _end(stored.authorities[0]) <= now:
        return _create(served_as, lifetimes, now)
    current = _drop_expired(stored, now)
    if _is_due(current.authorities[0], lifetimes.authority, now):
        current = _add_authority(current, lifetimes, now)
    if _needs_serving(current, served_as, lifetimes, now):
        current = replace(current, serving=_issue(current, served_as, lifetimes, now))
    return current


def _create(served_as: ServedAs, lifetimes: Lifetimes, now: datetime) -> Certificates:
    made = make_authority(NAME, lifetimes.authority, now)
    unissued = Certificates((made.certificate,), made.key, SignedCertificate(b"", b""))
    return replace(unissued, serving=_issue(unissued, served_as, lifetimes, now))


def _drop_expired(stored: Certificates, now: datetime) -> Certificates:
    valid = tuple(each for each in stored.authorities if _end(each) > now)
    return stored if valid == stored.authorities else replace(stored, authorities=valid)


def _add_authority(stored: Certificates, lifetimes: Lifetimes, now: datetime) -> Certificates:
    made = make_authority(NAME, lifetimes.authority, now)
    return replace(
        stored, authorities=(made.certificate, *stored.authorities), authority_key=made.key
    )


def _needs_serving(
    stored: Certificates, served_as: ServedAs, lifetimes: Lifetimes, now: datetime
) -> bool:
    serving_certificate = stored.serving.certificate
    if (
        _end(serving_certificate) <= now
        or _served_as(serving_certificate) != served_as
        or not _is_trusted(stored)
    ):
        return True
    return _is_due(serving_certificate, lifetimes.serving, now) and _is_settled(
        stored, lifetimes, now
    )


def _is_trusted(stored: Certificates) -> bool:
    """Whether one of the authorities signed the serving certificate."""
    serving_certificate = x509.load_pem_x509_certificate(stored.serving.certificate)
    return any(_signed(each, serving_certificate) for each in stored.authorities)


def _signed(authority: bytes, serving_certificate: x509.Certificate) -> bool:
    try:
        serving_certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _is_settled(stored: Certificates, lifetimes: Lifetimes, now: datetime) -> bool:
    """Whether all API servers trust the newest authority; a single one counts as trusted."""
    return len(stored.authorities) == 1 or now >= _begin(stored.authorities[0]) + lifetimes.settle


def _issue(
    stored: Certificates, served_as: ServedAs, lifetimes: Lifetimes, now: datetime
) -> SignedCertificate:
    authority = SignedCertificate(stored.authorities[0], stored.authority_key)
    return issue_server(
        authority, NAME, served_as.addresses, served_as.names, lifetimes.serving, now
    )


def _is_due(certificate: bytes, lifetime: timedelta, now: datetime) -> bool:
    return now >= _end(certificate) - lifetime / 3


def _begin(certificate: bytes) -> datetime:
    return x509.load_pem_x509_certificate(certificate).not_valid_before_utc + CLOCKS_DIFFER_BY


def _end(certificate: bytes) -> datetime:
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def _served_as(certificate: bytes) -> ServedAs:
    parsed = x509.load_pem_x509_certificate(certificate)
    try:
        known_as = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ServedAs()
    names = known_as.get_values_for_type(x509.DNSName)
    addresses = known_as.get_values_for_type(x509.IPAddress)
    return ServedAs(tuple(names), tuple(map(str, addresses)))
