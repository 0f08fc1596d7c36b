"""The loop of a session: reads lines and runs commands, at a terminal and in scripts."""

from __future__ import annotations

from collections.abc import Iterable

from fluxnetes.cli.resource_query.commands import find_command, nearest_command
from fluxnetes.cli.resource_query.session import CommandError, QuerySession
from fluxnetes.graph.columns import GraphError
from fluxnetes.jobspec.errors import JobspecError
from fluxnetes.match.errors import MatchError
from fluxnetes.match.find.query import QueryError
from fluxnetes.match.requests import InvalidRequest
from fluxnetes.notation.hostlist import HostlistError
from fluxnetes.notation.idset import IdsetError

INPUT_ERRORS = (
    CommandError,
    GraphError,
    HostlistError,
    IdsetError,
    InvalidRequest,
    JobspecError,
    MatchError,
    QueryError,
)
"""The errors that say what is wrong with a command, or with a file that it names."""


def run_lines(session: QuerySession, lines: Iterable[str]) -> None:
    """Run each line, until `quit` or the end of input."""
    for line in lines:
        run_line(session, line)
        if session.ended:
            return


def run_line(session: QuerySession, line: str) -> None:
    """Run one command; an error of the input is written, and the session continues.

    Any other error is a bug and keeps its traceback: nothing that the user can correct.
    """
    words = line.split()
    if not words or words[0].startswith("#"):
        return
    try:
        carry_out(session, words[0], words[1:])
    except INPUT_ERRORS as error:
        session.complain(f"ERROR: {error}")
    session.flush()


def carry_out(session: QuerySession, word: str, args: list[str]) -> None:
    """Find the command of this name and run it."""
    command = find_command(word)
    if command is None:
        near = nearest_command(word)
        hint = f"did you mean {near!r}?" if near else "`help` shows all commands"
        raise CommandError(f"unknown command {word!r}; {hint}")
    if not command.least <= len(args) <= command.most:
        raise CommandError(f"malformed command: usage: {command.example}")
    command.run(session, args)
