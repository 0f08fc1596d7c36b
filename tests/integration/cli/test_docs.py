"""What the front pages show is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fluxnetes.cli.resource_query.commands import COMMANDS
from tests.integration.cli.console_pages import PAGES, ROOT, play
from tests.integration.cli.times import without_times


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_console_block_shows_what_happens(page: Path) -> None:
    text = page.read_text()
    assert "```console" in text
    assert without_times(play(text)) == without_times(text)


def test_the_reference_page_shows_every_command() -> None:
    text = (ROOT / "docs" / "reference" / "resource-query.md").read_text()
    shown = {words.split()[0] for words in re.findall(r"(?m)^resource-query> (.+)$", text)}
    assert {command.name for command in COMMANDS} - shown == set()


def test_the_python_of_the_readme_runs_and_says_why_not() -> None:
    readme = (ROOT / "README.md").read_text()
    program = "\n".join(re.findall(r"(?ms)^```python\n(.*?)^```$", readme))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    first, second, third, *queued = done.stdout.splitlines()
    assert first == "two-gpus.yaml allocated 0"
    assert second == "eight-nodes.yaml reserved 7200"
    assert third.startswith("four-gpus.yaml unsatisfiable ")
    assert third != "four-gpus.yaml unsatisfiable "
    assert [line.split()[:3] for line in queued] == [
        ["1", "allocated", "600"],
        ["2", "pending", "600"],
        ["3", "allocated", "600"],
    ]


def test_the_readme_names_scripts_that_exist_and_can_be_run() -> None:
    readme = (ROOT / "README.md").read_text()
    scripts = set(re.findall(r"scripts/\w+", readme))
    assert {"scripts/run", "scripts/test"} <= scripts
    for script in (*scripts, ".ci/run"):
        assert (ROOT / script).stat().st_mode & 0o111


def test_every_page_that_the_readme_points_to_exists() -> None:
    readme = (ROOT / "README.md").read_text()
    targets = [t for t in re.findall(r"\]\(([^)]+)\)", readme) if "://" not in t]
    assert [target for target in targets if not (ROOT / target).exists()] == []
