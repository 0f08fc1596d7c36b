"""The errors of requests to the API server, and which HTTP status leads to which.

    KubeError
      ConfigError                 no usable server: change the kubeconfig or the credentials
      PermanentError              the same request again gets the same response
        BadRequest          400   the server cannot interpret the request
        Unauthorized        401   the server refuses the credentials, even fresh ones
        Forbidden           403   the caller lacks the permission
        NotFound            404   no such object, or no such kind on this server
        AlreadyExists       409   an object of that name exists
        Conflict            409   the object changed since it was read: read it, decide again
        Expired             410   that resource version is gone: list again
        InvalidObject       422   the object fails validation; `causes` names the fields
        ApiRefused          4xx   any other refusal
        Untrusted                 the server's certificate is not trusted
        UnreadableResponse        the response does not follow the API
      TemporaryError              the same request may work later
        Overloaded          429   nothing was done; try again after `retry_after` seconds
        ServerError         5xx   the server failed, and the request may or may not be done
        Unreachable               no response; `may_be_done` is false if there was no connection

After a temporary error with `may_be_done` the client cannot know whether a write was done. So every
write is safe to repeat: a bind and a delete carry a uid, a create has a name, a patch states the
wanted values.
"""

from __future__ import annotations

from msgspec import Struct, field


class ApiStatusCause(Struct, frozen=True, rename="camel"):
    """One broken rule."""

    field: str = ""
    reason: str = ""
    message: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class ApiStatusDetails(Struct, frozen=True, rename="camel"):
    """The machine-readable part of a Status."""

    causes: tuple[ApiStatusCause, ...] = ()
    retry_after_seconds: int = 0


class ApiStatus(Struct, frozen=True, rename="camel"):
    """The Status object with which the server refuses a request."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: ApiStatusDetails = field(default_factory=ApiStatusDetails)


class KubeError(Exception):
    """Anything that went wrong with the API server."""


class ConfigError(KubeError):
    """The configuration does not lead to an API server."""


class PermanentError(KubeError):
    """The same request again would get the same response."""

    def __init__(self, message: str, status: ApiStatus | None = None) -> None:
        super().__init__(message)
        self.status = status or ApiStatus()

    @property
    def causes(self) -> tuple[ApiStatusCause, ...]:
        """The broken rules, if the server named them."""
        return self.status.details.causes


class BadRequest(PermanentError):  # noqa: N818 - here and below: the server's own reasons
    """The server cannot interpret the request."""


class Unauthorized(PermanentError):  # noqa: N818
    """The server does not accept the credentials."""


class Forbidden(PermanentError):  # noqa: N818
    """The user lacks the permission."""


class NotFound(PermanentError):  # noqa: N818
    """There is no such object, or no such kind."""


class AlreadyExists(PermanentError):  # noqa: N818
    """There is an object of that name."""


class Conflict(PermanentError):  # noqa: N818
    """The object changed since it was read."""


class Expired(PermanentError):  # noqa: N818
    """The server no longer has that resource version."""


class InvalidObject(PermanentError):  # noqa: N818
    """The object fails validation."""


class ApiRefused(PermanentError):  # noqa: N818
    """Refused for a reason that has no class of its own."""


class Untrusted(PermanentError):  # noqa: N818
    """The server's certificate is not trusted."""


class UnreadableResponse(PermanentError):  # noqa: N818
    """The response does not follow the API."""


class TemporaryError(KubeError):
    """The same request may work later."""

    def __init__(self, message: str, *, may_be_done: bool = True) -> None:
        super().__init__(message)
        self.may_be_done = may_be_done
        """Whether a write may have happened nevertheless."""


class Overloaded(TemporaryError):  # noqa: N818
    """The server limits requests at the moment; it did nothing."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message, may_be_done=False)
        self.retry_after = retry_after


class ServerError(TemporaryError):
    """The server failed."""


class Unreachable(TemporaryError):  # noqa: N818
    """The server did not respond."""


_BY_CODE: dict[int, type[PermanentError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Expired,
    422: InvalidObject,
}


def error_for(what: str, status: ApiStatus) -> PermanentError | TemporaryError:
    """The error that a refusal stands for; `what` names the request.

    >>> error_for("get pods default/a", ApiStatus(404, "NotFound", 'pods "a" not found'))
    NotFound('get pods default/a: pods "a" not found (404)')
    """
    message = f"{what}: {status.message or status.reason or 'refused'} ({status.code})"
    if status.code == 429:
        return Overloaded(message, float(status.details.retry_after_seconds or 1))
    if status.code >= 500:
        return ServerError(message)
    if status.reason == "AlreadyExists":
        return AlreadyExists(message, status)
    return _BY_CODE.get(status.code, ApiRefused)(message, status)
