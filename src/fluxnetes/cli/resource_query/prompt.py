"""The shell at a terminal: a prompt, history over sessions, completion with Tab."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from fluxnetes.cli.resource_query.commands import COMMANDS
from fluxnetes.cli.resource_query.session import QuerySession
from fluxnetes.cli.resource_query.shell import run_lines
from fluxnetes.match.answers import Operation

PROMPT = "resource-query> "
HISTORY_LENGTH = 1000
"""Maximum lines in the history file."""

_SECOND_WORDS = {
    "match": tuple(f"{o.value} " for o in Operation),
    "multi-match": tuple(f"{o.value} " for o in Operation),
    "update": ("allocate ", "reserve "),
    "find": ("status=", "sched-now=", "sched-future=", "jobid-alloc=", "property=", "names="),
    "help": tuple(c.name for c in COMMANDS),
}


def run_prompt(session: QuerySession, greeting: str) -> None:
    """Read and run commands until `quit`, Ctrl-D or the end of input."""
    session.say(greeting)
    with _line_editing():
        run_lines(session, _typed_lines(session))


def _typed_lines(session: QuerySession) -> Iterator[str]:
    """The lines of input. Ctrl-C drops the line, Ctrl-D ends the session."""
    while True:
        try:
            yield input(PROMPT)
        except KeyboardInterrupt:
            session.say("")
        except EOFError:
            session.say("")
            return


@contextlib.contextmanager
def _line_editing() -> Iterator[None]:
    """History and completion, where Python was built with readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    history = _history_file()
    with contextlib.suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(HISTORY_LENGTH)
    readline.set_completer_delims(" \t")
    readline.set_completer(_completer(readline.get_line_buffer))
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)


def _history_file() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "fluxnetes" / "resource-query.history"


def _completer(line: Callable[[], str]) -> Callable[[str, int], str | None]:
    def complete(text: str, number: int) -> str | None:
        words = completions(line(), text)
        return words[number] if number < len(words) else None

    return complete


def completions(line: str, text: str) -> list[str]:
    """Completions of `text`, the last word of `line`: commands, subcommands or files."""
    before = line[: len(line) - len(text)].split()
    if not before:
        return [f"{c.name} " for c in COMMANDS if c.name.startswith(text)]
    if len(before) == 1 and before[0] in _SECOND_WORDS:
        return [word for word in _SECOND_WORDS[before[0]] if word.startswith(text)]
    return _files(text)


def _files(typed: str) -> list[str]:
    """The files whose names begin with the text; a folder ends in a slash."""
    folder, _, start = typed.rpartition("/")
    prefix = typed.removesuffix(start)
    with contextlib.suppress(OSError, ValueError):
        found = sorted(Path(folder or ("/" if prefix else ".")).iterdir())
        names = (f"{file.name}/" if file.is_dir() else file.name for file in found)
        return [prefix + name for name in names if name.startswith(start)]
    return []
