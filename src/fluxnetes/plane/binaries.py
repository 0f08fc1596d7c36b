"""Finds the programs of the control plane. The first hit wins:

1. the folder that KUBEBUILDER_ASSETS names, if it has all of them;
2. PATH, if all of them are on it;
3. the cache of an earlier build: `fluxnetes/controlplane` below XDG_CACHE_HOME or ~/.cache, in a
   folder named by the versions;
4. a build from the pinned Go module `controlplane/` (see `build`), into that cache.

With 1 and 2 the user chooses the versions.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.plane.build import Progress, build, find_module, kubernetes_version
from fluxnetes.plane.errors import PlaneFailed

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


@dataclass(frozen=True, slots=True)
class PlaneBinaries:
    """All programs of one control plane."""

    paths: dict[str, Path]

    def __getitem__(self, program: str) -> str:
        return str(self.paths[program])


def find_binaries(progress: Progress | None = None) -> PlaneBinaries:
    """The programs, built if none are found."""
    found = find_existing()
    if found is not None:
        return found
    module, cache = find_module(), cache_folder()
    build(module, cache, PROGRAMS, progress)
    built = _in_folders([cache])
    if built is None:
        raise PlaneFailed(f"the build in {module} left no programs in {cache}")
    return built


def find_existing() -> PlaneBinaries | None:
    """The programs that are there without a build."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    path = [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if each]
    candidates = [[Path(assets)] if assets else [], path, [cache_folder()]]
    return next(filter(None, map(_in_folders, candidates)), None)


def cache_folder() -> Path:
    """The cache folder for exactly the versions in the Go module."""
    module = find_module()
    pinned = (module / "go.mod").read_bytes() + (module / "go.sum").read_bytes()
    digest = hashlib.sha256(pinned).hexdigest()[:12]
    configured = os.environ.get("XDG_CACHE_HOME")
    top = Path(configured) if configured else Path.home() / ".cache"
    return top / "fluxnetes" / "controlplane" / f"{kubernetes_version(module)}-{digest}"


def _in_folders(folders: Sequence[Path]) -> PlaneBinaries | None:
    where = os.pathsep.join(map(str, folders))
    found = {name: shutil.which(name, path=where) for name in PROGRAMS} if where else {}
    paths = {name: Path(path) for name, path in found.items() if path}
    return PlaneBinaries(paths) if len(paths) == len(PROGRAMS) else None
