"""The tutorial for Kubernetes, command by command, on a cluster that `fluxnetes up` made."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from tests.integration.up.command import Up
from tests.integration.up.kubectl import Kubectl, Refused

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "tutorial-kubernetes.md"

_PATIENCE = 30.0
_PAUSE = 0.1


def test_every_command_of_the_tutorial_shows_what_it_shows_there(up: Up) -> None:
    kubectl = Kubectl(up.kubeconfig, ROOT)
    commands = list(_commands(PAGE.read_text()))
    assert len(commands) > 25
    for line, shown in commands:
        _play(kubectl, line, shown)


def test_the_tutorial_begins_with_what_is_tested_here() -> None:
    assert "\nfluxnetes up --nodes 4\n" in PAGE.read_text()


def _commands(page: str) -> Iterator[tuple[str, str]]:
    """Each kubectl command, and what is shown below it; nothing for those that show nothing."""
    for kind, block in re.findall(r"(?ms)^```(sh|console)\n(.*?)^```$", page):
        if kind == "sh":
            lines = block.splitlines()
            yield from (
                (line.split(" ", 1)[1], "") for line in lines if line.startswith("kubectl ")
            )
        else:
            for step in re.split(r"(?m)^\$ kubectl ", block)[1:]:
                line, _, shown = step.partition("\n")
                yield line, shown


def _play(kubectl: Kubectl, line: str, shown: str) -> None:
    """Only what is looked at may need a moment to become what is shown."""
    if not line.split(" -n ")[-1].startswith(("get", "-n physics get")):
        found = kubectl(line)
        assert not shown or _steady(found) == _steady(shown), line
        return
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            found = kubectl(line)
        except Refused as refused:
            found = str(refused)
        if not shown or _steady(found) == _steady(shown):
            return
        if time.monotonic() > deadline:
            raise AssertionError(f"kubectl {line}\n{found}\nand the page has\n{shown}")
        time.sleep(_PAUSE)


def _steady(shown: str) -> str:
    """Without what is another at each time: ages, times, and widths that come of them."""
    without = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", shown)
    without = re.sub(r"(?<= )(\d+[smhd]){1,2}(?= *$)", "AGE", without, flags=re.MULTILINE)
    without = re.sub(r"(?<= )(\d+[smhd]){1,2}(?= +v?\d)", "AGE", without)
    return "\n".join(re.sub(r" {2,}", "  ", line).rstrip() for line in without.splitlines())
