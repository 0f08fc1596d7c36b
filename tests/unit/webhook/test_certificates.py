"""Certificates of the webhook: what is trusted, what is shown, and when that changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from fluxnetes.webhook.certificates import (
    Certificates,
    Lifetimes,
    ServedAs,
    read_certificates,
    renew,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SERVICE = ServedAs(names=("fluxnetes-webhook.fluxnetes-system.svc",))
LIFETIMES = Lifetimes()
DAY = timedelta(days=1)


def is_trusted(shown: Certificates, bundle: bytes, moment: datetime) -> bool:
    """As a stranger to our code sees it."""
    leaf = x509.load_pem_x509_certificate(shown.serving.certificate)
    store = Store(x509.load_pem_x509_certificates(bundle))
    verifier = (
        PolicyBuilder()
        .store(store)
        .time(moment)
        .build_server_verifier(x509.DNSName(SERVICE.names[0]))
    )
    try:
        verifier.verify(leaf, [])
    except VerificationError:
        return False
    return True


def first(served_as: ServedAs = SERVICE) -> Certificates:
    return renew(None, served_as, LIFETIMES, NOW)


def test_nothing_changes_before_it_is_due() -> None:
    made = first()
    assert is_trusted(made, made.bundle, NOW)
    assert renew(made, SERVICE, LIFETIMES, NOW + 19 * DAY) is made


def test_a_serving_certificate_is_renewed_after_two_thirds_of_its_time() -> None:
    made = first()
    later = renew(made, SERVICE, LIFETIMES, NOW + 20 * DAY)
    assert later.serving != made.serving
    assert later.authorities == made.authorities


def test_at_every_look_what_was_registered_before_is_enough() -> None:
    """For a thousand days, with looks six hours apart."""
    current = first()
    bundles, shown = {current.bundle}, {current.serving}
    for moment in (NOW + DAY / 4 * look for look in range(1, 4000)):
        registered = current.bundle
        current = renew(current, SERVICE, LIFETIMES, moment)
        if current.bundle != registered or current.serving not in shown:
            assert is_trusted(current, registered, moment)
            assert is_trusted(current, current.bundle, moment)
        bundles.add(current.bundle)
        shown.add(current.serving)
    # Every 243 days an authority comes; 122 days later the one before it goes.
    assert len(bundles) == 1 + 4 + 3
    assert len(shown) == 1000 // 20


def test_a_new_authority_signs_nothing_until_it_has_settled() -> None:
    due = NOW + LIFETIMES.authority * 2 / 3
    both = renew(first(), SERVICE, replace(LIFETIMES, serving=LIFETIMES.authority), due)
    assert len(both.authorities) == 2
    early = renew(both, SERVICE, LIFETIMES, due + timedelta(minutes=9))
    assert early.serving == both.serving
    settled = renew(both, SERVICE, LIFETIMES, due + timedelta(minutes=10))
    newest = settled.authorities[0]
    assert is_trusted(settled, newest, due + timedelta(minutes=10))


def test_an_authority_that_ran_out_is_no_longer_registered() -> None:
    made = first()
    both = renew(made, SERVICE, LIFETIMES, NOW + 250 * DAY)
    assert both.authorities[1:] == made.authorities
    after = renew(both, SERVICE, LIFETIMES, NOW + 366 * DAY)
    assert after.authorities == both.authorities[:1]
    assert is_trusted(after, after.bundle, NOW + 366 * DAY)


def test_after_years_away_everything_is_made_anew() -> None:
    made, later = first(), NOW + 1000 * DAY
    anew = renew(made, SERVICE, LIFETIMES, later)
    assert is_trusted(anew, anew.bundle, later)
    assert not set(anew.authorities) & set(made.authorities)


def test_a_new_address_is_served_at_once() -> None:
    made = first(ServedAs(addresses=("127.0.0.1", "::1")))
    moved = renew(made, SERVICE, LIFETIMES, NOW)
    assert moved.authorities == made.authorities
    assert is_trusted(moved, made.bundle, NOW)
    assert renew(made, ServedAs(addresses=("127.0.0.1", "::1")), LIFETIMES, NOW) is made


def test_what_was_kept_is_read_back() -> None:
    made = first()
    both = renew(made, SERVICE, LIFETIMES, NOW + 250 * DAY)
    assert read_certificates(both.contents()) == both


def test_what_cannot_be_used_counts_as_nothing() -> None:
    made, other = first().contents(), first().contents()
    assert read_certificates({}) is None
    for name in made:
        assert read_certificates(made | {name: b"nonsense"}) is None
        assert read_certificates({key: made[key] for key in made if key != name}) is None
    for name in ("ca.key", "tls.key"):
        assert read_certificates(made | {name: other[name]}) is None


def test_what_no_authority_of_ours_signed_is_replaced() -> None:
    made = replace(first(), serving=first().serving)
    mended = renew(made, SERVICE, LIFETIMES, NOW)
    assert mended.serving != made.serving
    assert is_trusted(mended, made.bundle, NOW)
