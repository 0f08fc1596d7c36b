"""A reason as data: a code, a message and the values that its text needs.

Arguments keep their kind, so that each audience can render them in its own units: an `Amount` of
16000 cpu is `16000 cpu` to the queue and `16 cpu` to a user of Kubernetes; a `JobRef` is a number
to the queue and a name to its users; a `Moment` is seconds or a date.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from fluxnetes.common.reasons.codes import ReasonCode
from fluxnetes.common.reasons.messages import Message
from fluxnetes.common.texts import storable

LONGEST_TEXT = 4000
"""Maximum characters of words from outside: every event and every status repeats them."""


@dataclass(frozen=True, slots=True)
class Amount:
    """So much of a type of resource."""

    value: int
    type: str
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class ResourceHours:
    """So much of a type of resource for one hour."""

    value: float
    type: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A time, in seconds of the queue's clock."""

    at: int


@dataclass(frozen=True, slots=True)
class JobRef:
    """Another job."""

    id: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is so. Make one with `Reason.of`."""

    message: Message
    args: tuple[tuple[str, Argument], ...] = ()
    code: ReasonCode = field(default=ReasonCode.UNKNOWN)

    @classmethod
    def of(cls, message: Message, **args: Argument) -> Reason:
        """A reason with the code of its message."""
        return cls(message, tuple(args.items()), message.code)

    @classmethod
    def from_text(cls, text: str, code: ReasonCode = ReasonCode.UNKNOWN) -> Reason:
        """Words that came from outside: a user's, or those of an older version.

        A reason belongs to what happened already, so it is never refused: it is cut to a length,
        and characters that cannot be stored are replaced.
        """
        return cls(Message.TEXT, (("text", storable(text, LONGEST_TEXT)),), code)

    def coded(self, code: ReasonCode) -> Reason:
        """The same, with the code that it has in another context."""
        return self if self.code is code else replace(self, code=code)

    def __str__(self) -> str:
        # The text is imported only where a reason is shown.
        from fluxnetes.common.reasons.text import reason_text

        return reason_text(self)


Argument: TypeAlias = (
    int | str | Amount | ResourceHours | Moment | JobRef | Reason | tuple["Argument", ...]
)
"""What a message can be about."""


def code_of(reason: Reason | None) -> str:
    """The code of a reason as users see it; empty where there is none."""
    return "" if reason is None else reason.code.value
