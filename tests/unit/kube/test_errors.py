"""Every refusal has a name, and is of one family."""

from __future__ import annotations

import pytest

from fluxnetes.kube import errors
from fluxnetes.kube.errors import (
    ApiStatus,
    ApiStatusCause,
    ApiStatusDetails,
    InvalidObject,
    KubeError,
    Overloaded,
    PermanentError,
    TemporaryError,
    error_for,
)


@pytest.mark.parametrize(
    ("code", "reason", "name"),
    [
        (400, "BadRequest", "BadRequest"),
        (401, "Unauthorized", "Unauthorized"),
        (403, "Forbidden", "Forbidden"),
        (404, "NotFound", "NotFound"),
        (405, "MethodNotAllowed", "ApiRefused"),
        (409, "AlreadyExists", "AlreadyExists"),
        (409, "Conflict", "Conflict"),
        (410, "Expired", "Expired"),
        (413, "RequestEntityTooLarge", "ApiRefused"),
        (422, "Invalid", "InvalidObject"),
        (429, "TooManyRequests", "Overloaded"),
        (500, "InternalError", "ServerError"),
        (503, "ServiceUnavailable", "ServerError"),
        (504, "Timeout", "ServerError"),
    ],
)
def test_each_code_has_its_error(code: int, reason: str, name: str) -> None:
    error = error_for("get pods a", ApiStatus(code, reason, "because"))
    assert type(error).__name__ == name
    assert str(error) == f"get pods a: because ({code})"
    assert isinstance(error, TemporaryError) == (code == 429 or code >= 500)


def test_what_is_broken_is_named() -> None:
    cause = ApiStatusCause("spec.containers", "FieldValueRequired", "Required value")
    error = error_for("create pods", ApiStatus(422, "Invalid", "bad", ApiStatusDetails((cause,))))
    assert isinstance(error, InvalidObject)
    assert [str(c) for c in error.causes] == ["spec.containers: Required value"]


def test_a_busy_server_did_nothing_and_says_when() -> None:
    error = error_for("x", ApiStatus(429, details=ApiStatusDetails(retry_after_seconds=7)))
    assert isinstance(error, Overloaded)
    assert (error.retry_after, error.may_be_done) == (7.0, False)


def test_the_tree_drawn_in_the_module_is_the_tree() -> None:
    drawn = {}
    for line in (errors.__doc__ or "").splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent >= 4:
            drawn[line.split()[0]] = (indent - 4) // 2
    real = {
        kind.__name__: kind.__mro__.index(KubeError)
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, KubeError)
    }
    assert drawn == real


def test_no_error_is_of_both_families() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert not [k for k in kinds if issubclass(k, PermanentError) and issubclass(k, TemporaryError)]
