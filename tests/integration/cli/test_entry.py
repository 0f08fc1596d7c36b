"""The `fluxnetes` command itself, as the installed script."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

FLUXNETES = Path(sys.executable).with_name("fluxnetes")
HEAVY = ("numpy", "yaml", "msgspec")


def fluxnetes(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FLUXNETES, *arguments], capture_output=True, text=True, check=False)


def test_help_names_every_subcommand() -> None:
    done = fluxnetes("--help")
    assert done.returncode == 0
    assert "resource-query" in done.stdout


def test_no_argument_shows_the_help() -> None:
    assert fluxnetes().stdout == fluxnetes("--help").stdout


def test_version_is_that_of_the_package() -> None:
    assert fluxnetes("--version").stdout == f"fluxnetes {version('fluxnetes')}\n"


def test_an_unknown_subcommand_is_refused_by_name() -> None:
    done = fluxnetes("schedule-everything")
    assert done.returncode == 1
    assert "schedule-everything" in done.stderr
    assert "resource-query" in done.stderr


def test_python_dash_m_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fluxnetes", "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout == fluxnetes("--help").stdout


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["resource-query", "--help"], ["resource-query", "--nonsense"]],
)
def test_what_needs_no_graph_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from fluxnetes.cli.entry import main\n"
        "try:\n"
        f"    main({arguments!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        f"print('loaded:', [m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded: []"
