"""AdmissionReview (admission.k8s.io/v1): the API server's question, and our answer.

The object itself stays in bytes until somebody knows its kind. Our changes go back as operations at
paths (JSON Patch), so fields that we have never heard of survive.
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


class InvalidReview(ValueError):  # noqa: N818 - what it is, not what went wrong
    """This is no AdmissionReview that we understand."""


class AdmissionUser(Part, frozen=True):
    """Who sent the request. The API server made sure of that."""

    username: str = ""
    groups: tuple[str, ...] = ()


class GroupResource(Part, frozen=True):
    """What kind of thing is to be made."""

    group: str = ""
    version: str = ""
    resource: str = ""


class AdmissionRequest(Part, frozen=True):
    """What is asked."""

    uid: str
    resource: GroupResource
    operation: str
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    user_info: AdmissionUser = AdmissionUser()
    object: Raw = Raw(b"null")


class _Review(Part, frozen=True):
    api_version: str
    kind: str
    request: AdmissionRequest


@dataclass(frozen=True, slots=True)
class AdmissionDecision:
    """What is to become of a request."""

    why: str
    """For our log."""
    edits: tuple[Edit, ...] = ()
    refusal: str = ""
    """In words for the user; empty: it is allowed."""
    warnings: tuple[str, ...] = ()
    """Shown to the user by kubectl, although all is well."""


_decoder = msgspec.json.Decoder(_Review)


def read_review(body: bytes) -> AdmissionRequest:
    """The question. Raises BadReview."""
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
    """The answer."""
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
    """Give a field this value, whether or not it had one."""
    return {"op": "add", "path": path, "value": value}


def annotate(present: dict[str, str], wanted: dict[str, str]) -> tuple[Edit, ...]:
    """Annotations to be there besides those that are.

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
    """Put something at the end of a list, which may not be there yet."""
    return put(f"{path}/-", value) if present else put(path, [value])


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
