"""One run of resource-query: a matcher, where its answers go, and what `list` and `stat` tell.

The matcher knows jobs; the session adds what only this tool knows of them: the file that each
request was read from and how long its match took.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from fluxnetes.graph.placement import Placement
from fluxnetes.graph.writers import COMPLETE, render
from fluxnetes.match.matcher import Matcher


class CommandError(Exception):
    """A command cannot be carried out as it was given; the session goes on."""


@dataclass(frozen=True, slots=True)
class JobNote:
    """What the session remembers of a job beside what the matcher knows."""

    file: str
    elapsed: float


class QuerySession:
    """A matcher and three streams: results, remarks about the session, and complaints."""

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
        """Part of the answer: goes to `-t FILE` if there is one."""
        self.out.write(text)

    def say(self, text: str) -> None:
        """About the session, not part of an answer."""
        self.console.write(text + "\n")

    def complain(self, text: str) -> None:
        """On standard error, after all that was said before."""
        self.flush()
        self.errors.write(text + "\n")

    def flush(self) -> None:
        """Let whoever reads the other end see the answer before the next command is read."""
        self.out.flush()
        self.console.flush()

    def render(self, placement: Placement | None) -> str:
        """A placement in the format that the session was started with; nothing for none."""
        if placement is None:
            return ""
        return render(self.match_format, self.matcher.graph, placement)

    def render_found(self, placement: Placement) -> str:
        """The answer to a query, which has no shorthand."""
        return render(COMPLETE[self.match_format], self.matcher.graph, placement)


def read_bytes(name: str) -> bytes:
    """What is in a file that a command named."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"can't open {name}: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have
        raise CommandError(f"can't open {name!r}: {error}") from None


def read_text(name: str) -> str:
    """The same, as text."""
    try:
        return read_bytes(name).decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"{name} is not text in UTF-8: {error.reason}") from None


def whole_number(word: str, what: str) -> int:
    """A number that a command was given."""
    try:
        return int(word)
    except ValueError:
        raise CommandError(f"{what} must be a whole number, found {word!r}") from None
