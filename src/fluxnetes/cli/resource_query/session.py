"""One run of resource-query: a matcher, the streams for its answers, and notes on its jobs.

The matcher knows jobs; the session adds what only this tool knows of them: the file of each request
and how long its match took.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers import COMPLETE, render
from fluxnetes.match.matcher import Matcher

_NUMBERS_END = 2**63
"""Numbers of commands are less than this, as in the reference."""


class CommandError(Exception):
    """A command cannot be run as it was given; the session continues."""


@dataclass(frozen=True, slots=True)
class JobNote:
    """What the session knows of a job besides the matcher."""

    file: str
    elapsed: float


class QuerySession:
    """A matcher and three streams: results, output about the session, and errors."""

    def __init__(
        self,
        matcher: Matcher,
        out: TextIO,
        console: TextIO,
        errors: TextIO,
        *,
        match_format: str = "simple",
        elapse_time: bool = False,
    ) -> None:
        self.matcher = matcher
        self.out = out
        self.console = console
        self.errors = errors
        self.match_format = match_format
        self.elapse_time = elapse_time
        self.notes: dict[int, JobNote] = {}
        self.ended = False
        """Set by `quit`."""

    def result(self, text: str) -> None:
        """Write a part of the answer, to `-t FILE` if there is one."""
        self.out.write(text)

    def say(self, text: str) -> None:
        """Write a line about the session, which is not part of an answer."""
        self.console.write(text + "\n")

    def complain(self, text: str) -> None:
        """Write an error, after all earlier output."""
        self.flush()
        self.errors.write(text + "\n")

    def flush(self) -> None:
        """Let the reader of a pipe see the answer before the next command is read."""
        self.out.flush()
        self.console.flush()

    def render(self, placement: Placement | None) -> str:
        """A placement in the format of the session; empty without one."""
        if placement is None:
            return ""
        return render(self.match_format, self.matcher.graph, placement)

    def render_found(self, placement: Placement) -> str:
        """The answer to a query, which has no shorthand format."""
        return render(COMPLETE[self.match_format], self.matcher.graph, placement)


def read_bytes(name: str) -> bytes:
    """The content of a file that a command names."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"can't open {name}: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have
        raise CommandError(f"can't open {name!r}: {error}") from None


def read_text(name: str) -> str:
    """The content of a file that a command names, as text."""
    try:
        return read_bytes(name).decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"{name} is not text in UTF-8: {error.reason}") from None


def whole_number(word: str, what: str) -> int:
    """A number among the arguments of a command."""
    try:
        number = int(word)
    except ValueError:
        raise CommandError(f"{what} must be a whole number, found {word[:80]!r}") from None
    if abs(number) >= _NUMBERS_END:
        raise CommandError(f"{what} must be less than {_NUMBERS_END}, found {word[:80]}")
    return number
