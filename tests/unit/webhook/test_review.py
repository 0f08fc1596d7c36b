"""Reviews that make no sense."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fluxnetes.webhook.mutate import AdmissionPolicy, decide
from fluxnetes.webhook.review import InvalidReview, read_review
from tests.unit.webhook.reviews import a_pod, a_review


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"request": ' * 100_000,
        b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}',
        b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {}}',
    ],
)
def test_what_is_no_review_is_said_to_be_none(body: bytes) -> None:
    with pytest.raises(InvalidReview, match="expected an AdmissionReview"):
        read_review(body)


def test_another_version_of_reviews_is_named() -> None:
    review = a_review(a_pod()) | {"apiVersion": "admission.k8s.io/v1beta1"}
    with pytest.raises(InvalidReview, match=r"found AdmissionReview of admission.k8s.io/v1beta1"):
        read_review(json.dumps(review).encode())


@pytest.mark.parametrize(
    "made",
    [None, 1, [], {"metadata": []}, {"spec": {"schedulingGates": [{}]}}, {"spec": "x" * 1000}],
)
def test_an_object_that_is_no_pod_is_a_bad_review_and_no_crash(made: Any) -> None:
    review = a_review(a_pod())
    review["request"]["object"] = made
    request = read_review(json.dumps(review).encode())
    with pytest.raises(InvalidReview, match="not a valid Pod"):
        decide(request, AdmissionPolicy())
