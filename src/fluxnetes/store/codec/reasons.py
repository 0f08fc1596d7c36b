"""Reasons as two columns, and back: the text for people, and the data as JSON.

`reason_data` holds the code, the name of the message and its arguments; the text beside it is what
a person reads in SQL, in the units of the queue. The database derives the column `reason_code`. A
row that an older version wrote has only a text, and the code Unknown; a row whose message this
version does not know keeps its text and its code.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from fluxnetes.common.reasons import (
    Amount,
    Argument,
    JobRef,
    Message,
    Moment,
    Reason,
    ReasonCode,
    ResourceHours,
)
from fluxnetes.common.reasons.text import reason_text

_CACHED = 4096
"""Reasons whose columns are kept: most rows of a commit have one of a few."""


@lru_cache(_CACHED)
def write_reason(reason: Reason | None) -> tuple[str, str | None]:
    """The text and the data of a reason."""
    if reason is None:
        return "", None
    return reason_text(reason), json.dumps(_written(reason), separators=(",", ":"))


def read_reason(text: str, data: str | None) -> Reason | None:
    """The reason that was written."""
    if data is None:
        return Reason.from_text(text) if text else None
    return _read(json.loads(data), text)


def _written(reason: Reason) -> dict[str, Any]:
    args = {name: _argument(value) for name, value in reason.args}
    written = {"code": reason.code.value, "message": reason.message.name}
    return {**written, "args": args} if args else written


def _argument(value: Argument) -> object:
    match value:
        case Amount(amount, type, at_least):
            return {"amount": [amount, type, at_least]}
        case ResourceHours(hours, type):
            return {"hours": [float(hours), type]}
        case Moment(at):
            return {"at": at}
        case JobRef(id):
            return {"job": id}
        case Reason():
            return {"reason": _written(value)}
        case tuple():
            return [_argument(each) for each in value]
        case _:
            return value


def _read(data: dict[str, Any], text: str) -> Reason:
    code = _code(data["code"])
    if data["message"] not in Message.__members__:
        return Reason.from_text(text, code)
    args = tuple((name, _value(value)) for name, value in data.get("args", {}).items())
    return Reason(Message[data["message"]], args, code)


def _code(code: str) -> ReasonCode:
    try:
        return ReasonCode(code)
    except ValueError:  # of a newer version
        return ReasonCode.UNKNOWN


def _value(value: Any) -> Argument:
    match value:
        case {"amount": [amount, type, at_least]}:
            return Amount(amount, type, at_least)
        case {"hours": [hours, type]}:
            return ResourceHours(float(hours), type)
        case {"at": at}:
            return Moment(at)
        case {"job": id}:
            return JobRef(id)
        case {"reason": reason}:
            return _read(reason, "")
        case list():
            return tuple(_value(each) for each in value)
        case _:
            found: Argument = value
            return found
