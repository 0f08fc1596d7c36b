"""Pages on the service whose blocks are played, not believed.

Blocks are played in the order of the page. In a ```console block `$ ` begins a command of the
shell. `$ fluxnetes serve ...` starts a server, in the place of the one before it; the others are
run. All other lines are what is shown. A ```python block goes on where the one before it ended, and
what it prints is in the ```text block right below it. `play` returns the page with what is shown
today.

Every server is at a port of its own, which the page calls 4242.

`python -m tests.integration.client.pages` writes that into the pages, for a person to review.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from fluxnetes.client import Client
from tests.integration.rpc.process import Serve
from tests.integration.shell import run_shell

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = (DOCS / "tutorial-service.md", DOCS / "service.md", DOCS / "reference" / "serve.md")

_BLOCK = re.compile(
    r"(?ms)^```console\n(?P<console>.*?)^```$"
    r"|^```python\n(?P<python>.*?)^```$(?P<between>\n\n?)(?P<text>^```text\n.*?^```$)?"
)
_SERVE = "fluxnetes serve"


def play(page: str) -> str:
    """The page, with what its blocks show today."""
    folder = Path(tempfile.mkdtemp(prefix="fluxnetes-page-"))
    folder.chmod(0o711)  # root's Postgres runs as another
    player = Player(folder)
    try:
        return _BLOCK.sub(player.block, page)
    finally:
        player.close()
        shutil.rmtree(folder)


class Player:
    """Plays blocks, in a folder with what the repository has."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._data.mkdir()
        (folder / "examples").symlink_to(ROOT / "examples")
        self._names: dict[str, Any] = {}
        self._server: Serve | None = None

    def close(self) -> None:
        for each in self._names.values():
            if isinstance(each, Client):
                each.close()
        self._stop()

    def _stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def block(self, found: re.Match[str]) -> str:
        if found["console"] is not None:
            lines = [line[2:] for line in found["console"].splitlines() if line.startswith("$ ")]
            shown = "".join(f"$ {line}\n{self._shell(line)}" for line in lines)
            return f"```console\n{shown}```"
        said = self._python(found["python"])
        assert bool(said) == bool(found["text"]), f"{said!r} is printed, {found['text']!r} shown"
        below = f"```text\n{said}```" if said else ""
        return f"```python\n{found['python']}```{found['between']}{below}"

    def _shell(self, command: str) -> str:
        words = command.partition("#")[0].strip()
        if words.startswith(_SERVE) and "--help" not in words:
            return self._serve(words.removeprefix(_SERVE).split())
        return run_shell(self._here(command), self._folder, FLUXNETES_DATA=str(self._data))

    def _serve(self, options: list[str]) -> str:
        self._stop()
        with contextlib.chdir(self._folder):
            self._server = Serve(self._data, *options).start()
        return f"serving {self._server.address.rpartition(':')[0]}:4242\n"

    def _python(self, program: str) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.chdir(self._folder):
            exec(self._here(program), self._names)  # noqa: S102 - it is ours
        return said.getvalue()

    def _here(self, text: str) -> str:
        """What a page says, for the server that there is."""
        if self._server is None:
            return text
        return text.replace(":4242", f":{self._server.port}")


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(play(page.read_text()))
