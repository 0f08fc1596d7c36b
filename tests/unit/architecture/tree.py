"""The source tree as data: its packages, their modules, and the types and docstrings in them."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3] / "src" / "fluxnetes"
GENERATED = "_pb2.py"

_BACKTICKED = re.compile(r"`+([\w/.]+)`+")
_COLUMN_GAP = re.compile(r" {2,}")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Package:
    """One folder with an `__init__.py`."""

    folder: Path

    @property
    def name(self) -> str:
        """Dotted, from `fluxnetes` down."""
        return ".".join(self.folder.relative_to(ROOT.parent).parts)

    @property
    def modules(self) -> list[str]:
        """Those written by hand, without `__init__` and `__main__`."""
        files = [each for each in self.folder.glob("*.py") if not each.name.endswith(GENERATED)]
        return sorted(each.stem for each in files if not each.stem.startswith("__"))

    @property
    def subpackages(self) -> list[str]:
        return sorted(each.parent.name for each in self.folder.glob("*/__init__.py"))

    @property
    def docstring(self) -> str:
        return ast.get_docstring(parse(self.folder / "__init__.py")) or ""

    def indexed(self) -> set[str]:
        """The names that the docstring lists: in backticks, or in the first column of a table.

        Two spaces end the first column of a line, which may hold several names. Both `store` and
        `store/` name the subpackage `store`.
        """
        names: set[str] = set()
        for found in _BACKTICKED.findall(self.docstring):
            names.update(_WORD.findall(found))
        for line in self.docstring.splitlines():
            first, *rest = _COLUMN_GAP.split(line.strip(), maxsplit=1)
            if rest or line.startswith("  "):
                names.update(_WORD.findall(first))
        return names


@dataclass(frozen=True)
class TypeDefinition:
    """A class at the top level of a module."""

    name: str
    module: str


def packages() -> list[Package]:
    return [Package(each.parent) for each in sorted(ROOT.rglob("__init__.py"))]


def public_types() -> Iterator[TypeDefinition]:
    """Every class that another module can import by a name without an underscore."""
    for file in sorted(ROOT.rglob("*.py")):
        if file.name.endswith(GENERATED):
            continue
        module = ".".join(file.relative_to(ROOT.parent).with_suffix("").parts)
        for node in parse(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield TypeDefinition(node.name, module)


@cache
def parse(file: Path) -> ast.Module:
    """Parse with the garbage collector off: callbacks of it (hypothesis has some), or a finalizer
    that prints a traceback, make the parser of Python 3.11 raise SystemError."""
    gc.disable()
    try:
        return ast.parse(file.read_text(), str(file))
    finally:
        gc.enable()
