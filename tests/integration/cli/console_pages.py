"""Pages of the documentation whose ```console blocks are played, not believed.

In a block, `$ ` begins a command of the shell. `$ fluxnetes resource-query ...` opens a session at
a terminal, which the blocks below it go on with: there, `resource-query> ` begins what is typed.
All other lines are what is shown. `play` returns the page with what is shown today.

`python -m tests.integration.cli.console_pages` writes that into the pages, for a person to review.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from pathlib import Path

from tests.integration.cli.terminal import PROMPT, Terminal
from tests.integration.shell import run_shell

ROOT = Path(__file__).resolve().parents[3]
PAGES = (ROOT / "docs" / "tutorial.md", ROOT / "docs" / "reference" / "resource-query.md")

_BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")
_SESSION = "fluxnetes resource-query "


def play(page: str) -> str:
    """The page, with what its commands show today."""
    player = _Player()
    try:
        return _BLOCK.sub(lambda m: f"```console\n{player.block(m[1])}```", page)
    finally:
        player.close()


class _Player:
    def __init__(self) -> None:
        self.terminal: Terminal | None = None
        self.state = tempfile.TemporaryDirectory()

    def close(self) -> None:
        if self.terminal is not None:
            self.terminal.close()
        self.state.cleanup()

    def block(self, text: str) -> str:
        shown = ""
        for line in text.splitlines():
            if line.startswith("$ "):
                shown += f"{line}\n{self._shell(line[2:])}"
            elif line.startswith(PROMPT):
                shown += f"{line}\n{self._type(line.removeprefix(PROMPT))}"
        return shown

    def _shell(self, command: str) -> str:
        if command.startswith(_SESSION) and not set(command) & set("<|>"):
            return self._open(shlex.split(command.removeprefix(_SESSION)))
        return run_shell(command, ROOT)

    def _open(self, options: list[str]) -> str:
        if self.terminal is not None:
            self.terminal.close()
        self.terminal = Terminal(*options, cwd=ROOT, state=Path(self.state.name))
        return self.terminal.wait_for(PROMPT)

    def _type(self, command: str) -> str:
        assert self.terminal is not None, f"{command!r} is typed into no session"
        self.terminal.type(command + "\n")
        if command in ("quit", "q"):
            shown = self.terminal.wait_for_end()
        else:
            shown = self.terminal.wait_for(PROMPT)
        return shown.removeprefix(command + "\n")


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(play(page.read_text()))
