"""Recorded sessions of the reference, where the folder that holds them is at hand.

It is not part of this repository: FLUXNETES_CONFORMANCE names it, or it lies in
`../shared/conformance`. Every case must pass but those that docs/conformance.md lists with the
reason why ours is the better answer; and a case that is listed there must still differ, so that the
list stays true.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fluxnetes.cli.resource_query.options import ResourceQueryOptions, parse_options
from fluxnetes.cli.resource_query.session import QuerySession
from fluxnetes.cli.resource_query.shell import run_lines
from fluxnetes.cli.resource_query.start import build_matcher

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("FLUXNETES_CONFORMANCE") or ROOT.parent / "shared" / "conformance")
FLUXNETES = Path(sys.executable).with_name("fluxnetes")
EVERY = 40
"""One case in this many also runs through the installed script."""

Case = dict[str, Any]


def load_cases() -> list[Case]:
    file = FOLDER / "cases.json"
    cases: list[Case] = json.loads(file.read_text()) if file.exists() else []
    return cases


def listed_differences() -> set[str]:
    """The names in the table of docs/conformance.md."""
    page = (ROOT / "docs" / "conformance.md").read_text()
    return set(re.findall(r"(?m)^\| `([^`]+)` \|", page))


CASES = load_cases()
by_name = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def arguments_of(case: Case) -> list[str]:
    arguments = ["-L", str(FOLDER / case["graph"])] if case["graph"] else []
    arguments += ["-f", case["load_format"], "-S", case["subsystems"], "-P", case["policy"]]
    arguments += ["-F", case["match_format"], "-T", case["traverser"]]
    arguments += ["-p", case["prune_filters"], "-W", case.get("allowlist", "")]
    return arguments


def commands_of(case: Case) -> str:
    return Path(FOLDER, case["commands"]).read_text().replace("@TEST_SRCDIR@", str(FOLDER / "t"))


def expected_of(case: Case) -> str:
    return Path(FOLDER, case["expected"]).read_text()


def replay(options: ResourceQueryOptions, commands: str) -> str:
    """What the session writes to the file of `-t`."""
    out = io.StringIO()
    matcher = build_matcher(options)
    aside = io.StringIO()
    session = QuerySession(matcher, out, aside, aside, match_format=options.match_format)
    run_lines(session, commands.splitlines())
    return out.getvalue()


def answer_of(case: Case) -> str | None:
    """What we answer, or None where we refuse to start."""
    try:
        options = parse_options(arguments_of(case))
        return replay(options, commands_of(case))
    except (SystemExit, ValueError):
        return None


@pytest.mark.skipif(bool(CASES), reason="the recorded sessions are there")
def test_the_recorded_sessions_of_the_reference_are_there() -> None:
    pytest.skip(
        f"NO SESSION OF THE REFERENCE WAS REPLAYED: there is no {FOLDER}/cases.json; "
        "set FLUXNETES_CONFORMANCE to the folder that holds it"
    )


@by_name
def test_a_session_of_the_reference_gets_the_same_answer(case: Case) -> None:
    answer = answer_of(case)
    same = answer is None if case["fails"] else answer == expected_of(case)
    if case["name"] in listed_differences():
        assert not same, f"{case['name']} passes: take it off the list in docs/conformance.md"
    elif not same:
        assert answer == expected_of(case)


@pytest.mark.skipif(not CASES, reason="the recorded sessions are not there")
def test_every_listed_difference_is_a_case() -> None:
    assert listed_differences() - {case["name"] for case in CASES} == set()


@pytest.mark.parametrize("case", CASES[::EVERY], ids=[case["name"] for case in CASES[::EVERY]])
def test_the_installed_script_answers_like_the_session(case: Case, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        [FLUXNETES, "resource-query", *arguments_of(case), "-d", "-t", str(out)],
        input=commands_of(case),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert out.read_text() == answer_of(case)
