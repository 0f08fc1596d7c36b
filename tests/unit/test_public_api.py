"""The public Python API: its names, their documentation, and what importing it loads."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fluxnetes
import fluxnetes.client

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{page}.md" for page in ("tutorial", "tutorial-kubernetes")),
    ROOT / "docs" / "tutorial-service.md",
]
PUBLIC_MODULES = {"fluxnetes", "fluxnetes.client"}


def type_checking_names() -> dict[str, str]:
    """What `if TYPE_CHECKING:` binds in `fluxnetes/__init__.py`: the full origin of each name."""
    tree = ast.parse(inspect.getsource(fluxnetes))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    names: dict[str, str] = {}
    for statement in block.body:
        if isinstance(statement, ast.AnnAssign):
            assert isinstance(statement.target, ast.Name)
            names[statement.target.id] = "fluxnetes"
            continue
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            names[alias.asname or alias.name] = f"{statement.module}.{alias.name}"
    return names


def test_all_is_sorted_and_equals_what_type_checkers_see() -> None:
    assert sorted(fluxnetes.__all__) == fluxnetes.__all__
    assert set(fluxnetes.__all__) == set(type_checking_names())


def test_every_name_resolves_to_what_type_checkers_see() -> None:
    for name, origin in type_checking_names().items():
        if name == "__version__":
            continue
        module, _, attribute = origin.rpartition(".")
        assert getattr(fluxnetes, name) is getattr(import_module(module), attribute), name


def test_nothing_else_resolves() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = fluxnetes.nonsense
    with pytest.raises(ImportError):
        exec("from fluxnetes import nonsense")  # noqa: S102


def test_dir_lists_the_api() -> None:
    assert set(fluxnetes.__all__) <= set(dir(fluxnetes))


def test_no_public_name_is_that_of_a_subpackage() -> None:
    """Importing a subpackage binds its name in `fluxnetes`, and would replace the public object."""
    packages = {each.parent.name for each in (ROOT / "src/fluxnetes").glob("*/__init__.py")}
    assert packages & set(fluxnetes.__all__) == set()


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert fluxnetes.__version__ == version("fluxnetes")


def own_docstring(public: Any) -> str:
    """The docstring that was written for an object; not one that Python made up."""
    text = inspect.getdoc(public) or ""
    name = getattr(public, "__name__", "")
    is_generated = is_dataclass(public) and text.startswith(f"{name}(")
    inherited = {inspect.getdoc(base) for base in getattr(public, "__mro__", ())[1:]}
    if is_generated or text in inherited or text == inspect.getdoc(partial):
        return ""
    return text


@pytest.mark.parametrize("module", [fluxnetes, fluxnetes.client], ids=lambda m: m.__name__)
def test_every_public_name_has_a_docstring(module: Any) -> None:
    names = [name for name in module.__all__ if name != "__version__"]
    assert [name for name in names if not own_docstring(getattr(module, name))] == []


HEAVY = ("numpy", "aiohttp", "asyncpg", "grpc_health.v1", "grpc_reflection.v1alpha", "uvicorn")
SERVER = ("rpc", "service", "store", "controller", "webhook", "kube", "cluster", "match", "queue")


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import fluxnetes", (*HEAVY, "grpc")),
        ("import fluxnetes; dir(fluxnetes); fluxnetes.__version__", (*HEAVY, "grpc")),
        ("import fluxnetes.client", HEAVY),
        ("from fluxnetes.client import AsyncClient, Client", HEAVY),
    ],
)
def test_importing_loads_no_server_code(statement: str, unwanted: tuple[str, ...]) -> None:
    """In a fresh process; the client may load gRPC."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert loaded & {*unwanted, *(f"fluxnetes.{package}" for package in SERVER)} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_import_only_the_public_api(page: Path) -> None:
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", page.read_text())
    assert blocks or page.stem != "README"
    for block in blocks:
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import):
                modules = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                modules = {node.module or "."}
            else:
                continue
            tops = {module.partition(".")[0] for module in modules - PUBLIC_MODULES}
            assert tops <= sys.stdlib_module_names, f"{page.name}: {ast.unparse(node)}"


def test_the_reference_page_is_what_would_be_written_today(tmp_path: Path) -> None:
    """If this fails, run `scripts/api-docs`."""
    script, page = ROOT / "scripts" / "api_docs.py", tmp_path / "python.md"
    subprocess.run([sys.executable, script, page], check=True)
    assert page.read_text() == (ROOT / "docs" / "reference" / "python.md").read_text()
