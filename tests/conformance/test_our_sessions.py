"""The sessions written for this project, replayed through the installed script."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from fluxnetes.cli.resource_query.commands import COMMANDS
from fluxnetes.match.policy import NAMED
from tests.conformance.transcripts import HERE, SESSIONS, read_transcript
from tests.integration.cli.times import without_times

FLUXNETES = Path(sys.executable).with_name("fluxnetes")
FILES = sorted(SESSIONS.glob("*.txt"))
POLICIES = (*NAMED, "locality", "variation", "policy=")


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_session_of_ours_answers_as_recorded(file: Path) -> None:
    transcript = read_transcript(file)
    done = subprocess.run(
        [FLUXNETES, "resource-query", *transcript.options],
        input="\n".join(transcript.commands) + "\n",
        capture_output=True,
        text=True,
        cwd=HERE,
        check=True,
    )
    assert without_times(done.stdout) == transcript.expected
    assert "Traceback" not in done.stderr


def test_every_command_is_in_some_session() -> None:
    used = {c.split()[0] for file in FILES for c in read_transcript(file).commands if c.strip()}
    assert {command.name for command in COMMANDS} - used == set()


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_is_in_some_session(policy: str) -> None:
    given = [read_transcript(file).options for file in FILES]
    assert any(
        before == "-P" and option.startswith(policy)
        for options in given
        for before, option in pairwise(options)
    )
