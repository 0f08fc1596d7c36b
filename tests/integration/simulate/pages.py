"""The page on `fluxnetes simulate`: its commands are run, its tables are made, not believed.

`python -m tests.integration.simulate.pages` writes what they show today into the page, for a person
to review. The run of ten thousand jobs takes half a minute.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from fluxnetes.simulate.metrics import DEFINITIONS
from fluxnetes.simulate.table import TITLES
from tests.integration.shell import run_shell
from tests.unit.simulate.traces import LUBLIN, TRACES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "simulate.md"

_CONSOLE = re.compile(r"(?ms)^```console\n\$ (.*?)\n.*?^```$")
_TRACE = re.compile(r"(?ms)^```swf\n(.*?)^```$")
_FIGURES = re.compile(r"(?m)^(\| figure \| in JSON \| meaning \|\n\|---\|---\|---\|\n)(?:\|.*\n)*")
_TIMES = re.compile(r"(?m)^(Simulated in) .*$")


def without_times(text: str) -> str:
    return _TIMES.sub(r"\1 TIME", text)


def commands(page: str) -> list[str]:
    return [found[1] for found in _CONSOLE.finditer(page)]


def played(page: str, known: dict[str, str]) -> str:
    """The page as it would be written today; outputs in `known` are not made again."""
    with tempfile.TemporaryDirectory() as folder:
        (trace,) = _TRACE.findall(page)
        (Path(folder) / "small.swf").write_text(trace)

        def block(found: re.Match[str]) -> str:
            command = found[1]
            shown = known[command] if command in known else run_shell(command, Path(folder))
            return f"```console\n$ {command}\n{shown.rstrip()}\n```"

        page = _CONSOLE.sub(block, page)
    rows = "".join(f"| {title} | `{n}` | {DEFINITIONS[n]} |\n" for n, title in TITLES.items())
    return _FIGURES.sub(lambda found: found[1] + rows, page)


if __name__ == "__main__":
    text = PAGE.read_text()
    slow = {command: run_shell(command, TRACES) for command in commands(text) if LUBLIN in command}
    PAGE.write_text(played(text, slow))
