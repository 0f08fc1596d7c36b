"""The webhook's certificates: which there are, and when the next ones are due.

The API server trusts us because the registration holds the certificate of an authority that is
ours (`caBundle`), and we show one that the authority signed. Both run out, so both are renewed when
two thirds of their time is over, and nobody may notice:

    authority   |------- old -------------------|
                                    |------- new ------------------- ...
    registered         old          |  both     |        new
    signed by          old          |old|              new

A new authority signs nothing until it has settled, that is until every API server has surely read
the registration that names it. The old one stays registered until it runs out.
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
    """How long things last."""

    authority: timedelta = timedelta(days=365)
    serving: timedelta = timedelta(days=30)
    settle: timedelta = timedelta(minutes=10)
    """From the making of an authority until all API servers trust it."""


@dataclass(frozen=True, slots=True)
class ServedAs:
    """How the API server calls us, and what our certificate must therefore say."""

    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Certificates:
    """All that the replicas of the webhook share."""

    authorities: tuple[bytes, ...]
    """The newest first."""
    authority_key: bytes
    """Of the newest."""
    serving: SignedCertificate

    @property
    def bundle(self) -> bytes:
        """Whom the API server must trust."""
        return b"".join(self.authorities)

    def contents(self) -> dict[str, bytes]:
        """As it is kept, by name."""
        return {
            "ca.crt": self.bundle,
            "ca.key": self.authority_key,
            "tls.crt": self.serving.certificate,
            "tls.key": self.serving.key,
        }


def read_certificates(contents: Mapping[str, bytes]) -> Certificates | None:
    """What was kept; None if that is nothing that could be used."""
    try:
        found = _read(contents)
    except (KeyError, ValueError, IndexError) as error:
        if contents:
            _log.warning("the certificates that were kept cannot be used (%s): made anew", error)
        return None
    return found


def _read(contents: Mapping[str, bytes]) -> Certificates:
    authorities = x509.load_pem_x509_certificates(contents["ca.crt"])
    signer, shown = read_key(contents["ca.key"]), read_key(contents["tls.key"])
    serving = x509.load_pem_x509_certificate(contents["tls.crt"])
    if authorities[0].public_key() != signer.public_key():
        raise ValueError("ca.key is not the key of ca.crt")
    if serving.public_key() != shown.public_key():
        raise ValueError("tls.key is not the key of tls.crt")
    return Certificates(
        tuple(each.public_bytes(Encoding.PEM) for each in authorities),
        contents["ca.key"],
        SignedCertificate(contents["tls.crt"], contents["tls.key"]),
    )


# --- what is due -------------------------------------------------------------------------------


def renew(
    kept: Certificates | None, served_as: ServedAs, lifetimes: Lifetimes, now: datetime
) -> Certificates:
    """What there should be now: the very same, if nothing is due."""
    if kept is None or _end(kept.authorities[0]) <= now:
        return _start_anew(served_as, lifetimes, now)
    current = _drop_old(kept, now)
    if _is_due(current.authorities[0], lifetimes.authority, now):
        current = _add_authority(current, lifetimes, now)
    if _needs_serving(current, served_as, lifetimes, now):
        current = replace(current, serving=_issue(current, served_as, lifetimes, now))
    return current


def _start_anew(served_as: ServedAs, lifetimes: Lifetimes, now: datetime) -> Certificates:
    made = make_authority(NAME, lifetimes.authority, now)
    unserved = Certificates((made.certificate,), made.key, SignedCertificate(b"", b""))
    return replace(unserved, serving=_issue(unserved, served_as, lifetimes, now))


def _drop_old(kept: Certificates, now: datetime) -> Certificates:
    valid = tuple(each for each in kept.authorities if _end(each) > now)
    return kept if valid == kept.authorities else replace(kept, authorities=valid)


def _add_authority(kept: Certificates, lifetimes: Lifetimes, now: datetime) -> Certificates:
    made = make_authority(NAME, lifetimes.authority, now)
    return replace(kept, authorities=(made.certificate, *kept.authorities), authority_key=made.key)


def _needs_serving(
    kept: Certificates, served_as: ServedAs, lifetimes: Lifetimes, now: datetime
) -> bool:
    shown = kept.serving.certificate
    if _end(shown) <= now or _served_as(shown) != served_as or not _is_trusted(kept):
        return True
    return _is_due(shown, lifetimes.serving, now) and _is_settled(kept, lifetimes, now)


def _is_trusted(kept: Certificates) -> bool:
    """Whether one of the authorities signed what we show."""
    shown = x509.load_pem_x509_certificate(kept.serving.certificate)
    return any(_signed(each, shown) for each in kept.authorities)


def _signed(authority: bytes, shown: x509.Certificate) -> bool:
    try:
        shown.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _is_settled(kept: Certificates, lifetimes: Lifetimes, now: datetime) -> bool:
    """Whether the newest authority is trusted; one that is the only one must be."""
    return len(kept.authorities) == 1 or now >= _begin(kept.authorities[0]) + lifetimes.settle


def _issue(
    kept: Certificates, served_as: ServedAs, lifetimes: Lifetimes, now: datetime
) -> SignedCertificate:
    authority = SignedCertificate(kept.authorities[0], kept.authority_key)
    return issue_server(
        authority, NAME, served_as.addresses, served_as.names, lifetimes.serving, now
    )


def _is_due(certificate: bytes, lasts: timedelta, now: datetime) -> bool:
    return now >= _end(certificate) - lasts / 3


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
