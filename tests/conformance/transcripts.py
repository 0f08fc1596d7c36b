"""Recorded sessions: a graph, commands, and what resource-query must answer, in one text file.

    options: -L graphs/cluster.graphml -P low
    > match allocate jobs/one-core.yaml
          ------------core0[1:x]
    ...
    INFO: =============================
    > quit

The first line holds the options, a line that begins with `> ` is a command, all others are what
standard output must show. A line that begins with `#` before the options says what it is about.
How long a match took differs from run to run and is written as TIME.

`python -m tests.conformance.transcripts FILE...` writes the answers of the engine of today into
the files, for a person to review.
"""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.cli.resource_query.options import parse_options
from fluxnetes.cli.resource_query.session import QuerySession
from fluxnetes.cli.resource_query.shell import run_line
from fluxnetes.cli.resource_query.start import build_matcher
from tests.integration.cli.times import without_times

HERE = Path(__file__).resolve().parent
SESSIONS = HERE / "sessions"


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recorded session."""

    about: str
    options: tuple[str, ...]
    commands: tuple[str, ...]
    expected: str


def read_transcript(file: Path) -> Transcript:
    lines = file.read_text().splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith("options: "))
    body = lines[start + 1 :]
    return Transcript(
        about="".join(lines[:start]),
        options=tuple(shlex.split(lines[start].removeprefix("options: "))),
        commands=tuple(line[2:].rstrip("\n") for line in body if line.startswith("> ")),
        expected="".join(line for line in body if not line.startswith("> ")),
    )


def rewrite(file: Path) -> None:
    """Write the file anew with what the engine answers today."""
    transcript = read_transcript(file)
    with chdir(HERE):
        answers = list(_answers(transcript))
    body = "".join(f"> {c}\n{a}" for c, a in zip(transcript.commands, answers, strict=True))
    file.write_text(f"{transcript.about}options: {shlex.join(transcript.options)}\n{body}")


def _answers(transcript: Transcript) -> Iterator[str]:
    """What the engine says to each command; nothing after `quit`."""
    options = parse_options(transcript.options)
    matcher = build_matcher(options)
    out = io.StringIO()
    session = QuerySession(matcher, out, out, sys.stderr, match_format=options.match_format)
    for command in transcript.commands:
        out.seek(0)
        out.truncate()
        if not session.ended:
            run_line(session, command)
        yield without_times(out.getvalue())


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name).resolve())
