"""The loop of a session: reads lines and runs commands, at a terminal and in scripts."""

from __future__ import annotations

from collections.abc import Iterable

from fluxnetes.cli.resource_query.commands import find_command, nearest_command
from fluxnetes.cli.resource_query.session import CommandError, QuerySession


def run_lines(session: QuerySession, lines: Iterable[str]) -> None:
    """Run each line, until `quit` or the end of input."""
    for line in lines:
        run_line(session, line)
        if session.ended:
            return


def run_line(session: QuerySession, line: str) -> None:
    """Run one command; an error is written, and the session continues.

    Every error that the graph and the matcher raise about their input is a ValueError.
    """
    words = line.split()
    if not words or words[0].startswith("#"):
        return
    try:
        carry_out(session, words[0], words[1:])
    except (CommandError, ValueError) as error:
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
