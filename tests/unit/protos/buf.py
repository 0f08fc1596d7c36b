"""`buf`, on a copy of our protos that a test may change."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
KEPT = Path(__file__).with_name("v1.binpb")
"""What clients know of fluxnetes.v1: see scripts/protos."""
V1 = Path("src", "fluxnetes", "v1")


@dataclass(frozen=True, slots=True)
class Protos:
    """The protos of fluxnetes.v1, with the configuration of buf for them."""

    folder: Path

    def replace(self, file: str, before: str, after: str) -> None:
        """Change the one place where a file says something."""
        path = self.folder / V1 / file
        assert path.read_text().count(before) == 1, before
        path.write_text(path.read_text().replace(before, after))

    def buf(self, *arguments: str) -> str:
        """What buf finds fault with; nothing if all is well."""
        program = Path(sys.executable).with_name("buf")
        done = subprocess.run(
            [program, *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 100), done.stderr  # 100: there is something to say
        assert (done.returncode == 0) == (not done.stdout)
        return done.stdout

    def breaking(self) -> str:
        """What clients that know the protos as they were kept cannot go on with."""
        return self.buf("breaking", "--against", str(KEPT))


def copied(into: Path) -> Protos:
    (into / V1).mkdir(parents=True)
    shutil.copy(ROOT / "buf.yaml", into)
    for file in (ROOT / V1).glob("*.proto"):
        shutil.copy(file, into / V1)
    return Protos(into)
