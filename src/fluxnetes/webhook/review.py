"""AdmissionReview (admission.k8s.io/v1): decodes the request, encodes the response.

The object itself stays in bytes until its kind is known. Changes are returned as operations at
paths (JSON Patch), so fields that Fluxnetes does not model are kept.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from msgspec import Raw

from fluxnetes.kube.objects.base import Part

API_VERSION, KIND = "admission.k8s.io/v1", "AdmissionReview"

Edit: TypeAlias = dict[str, Any]
"""One operation of a JSON Patch."""


class InvalidReview(ValueError):  # noqa: N818 - names the input
    """The input is not a valid AdmissionReview."""


class AdmissionUser(Part, frozen=True):
    """The user who sent the request, authenticated by the API server."""

    username: str = ""
    groups: tuple[str, ...] = ()


class GroupResource(Part, frozen=True):
    """The resource of the object to be created."""

    group: str = ""
    version: str = ""
    resource: str = ""


class AdmissionRequest(Part, frozen=True):
    """The request of a review."""

    uid: str
    resource: GroupResource
    operation: str
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    user_info: AdmissionUser = AdmissionUser()
    object: Raw = Raw(b"null")
    old_object: Raw = Raw(b"null")
    """What it is before an UPDATE."""


class _Review(Part, frozen=True):
    api_version: str
    kind: str
    request: AdmissionRequest


@dataclass(frozen=True, slots=True)
class AdmissionDecision:
    """The decision on a request."""

    why: str
    """The cause, for the log."""
    edits: tuple[Edit, ...] = ()
    refusal: str = ""
    """The message to the user; empty: the request is allowed."""
    warnings: tuple[str, ...] = ()
    """Shown to the user by kubectl for an allowed request."""


_decoder = msgspec.json.Decoder(_Review)


def read_review(body: bytes) -> AdmissionRequest:
    """The request of a review. Raises InvalidReview."""
    try:
        review = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidReview(f"expected an {KIND} with a request, found: {error}") from None
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        raise InvalidReview(
            f"expected {KIND} of {API_VERSION}, found {review.kind} of {review.api_version}; "
            "correct admissionReviewVersions of the registration"
        )
    return review.request


def write_review(request: AdmissionRequest, decision: AdmissionDecision) -> bytes:
    """The response to a request, as a review."""
    response: dict[str, Any] = {"uid": request.uid, "allowed": not decision.refusal}
    if decision.refusal:
        response["status"] = {"code": 403, "reason": "Forbidden", "message": decision.refusal}
    elif decision.edits:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(msgspec.json.encode(decision.edits)).decode()
    if decision.warnings:
        response["warnings"] = decision.warnings
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})


# --- edits -------------------------------------------------------------------------------------


def put(path: str, value: Any) -> Edit:
    """Set a field, whether or not it has a value."""
    return {"op": "add", "path": path, "value": value}


def annotate(present: dict[str, str], wanted: dict[str, str]) -> tuple[Edit, ...]:
    """Add annotations to those that are present.

    >>> annotate({}, {"a/b": "c"})
    ({'op': 'add', 'path': '/metadata/annotations', 'value': {'a/b': 'c'}},)
    >>> annotate({"x": "y"}, {"a/b": "c"})
    ({'op': 'add', 'path': '/metadata/annotations/a~1b', 'value': 'c'},)
    """
    path = "/metadata/annotations"
    missing = {key: value for key, value in wanted.items() if present.get(key) != value}
    if missing and not present:
        return (put(path, missing),)
    return tuple(put(f"{path}/{_escape(key)}", value) for key, value in missing.items())


def append(path: str, present: tuple[Any, ...], value: Any) -> Edit:
    """Append a value to a list, which may not exist yet."""
    return put(f"{path}/-", value) if present else put(path, [value])


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
