"""Finds the programs of the control plane. The first hit wins:

1. the folder that KUBEBUILDER_ASSETS names, if it has all of them;
2. PATH, if all of them are on it;
3. the cache of an earlier build: `fluxnetes/controlplane` below XDG_CACHE_HOME or ~/.cache, in a
   folder named by the versions;
4. a build from the pinned Go module `controlplane/VERSION` (see `build`), into that cache.

With 1 and 2 the user chooses the versions. So where a minor version of Kubernetes is asked for,
only 3 and 4 count.
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
from fluxnetes.plane.versions import DEFAULT

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


@dataclass(frozen=True, slots=True)
class PlaneBinaries:
    """All programs of one control plane."""

    paths: dict[str, Path]

    def __getitem__(self, program: str) -> str:
        return str(self.paths[program])


def find_binaries(progress: Progress | None = None, kubernetes: str | None = None) -> PlaneBinaries:
    """The programs, built if none are found: of a minor version, or else any that are there."""
    found = find_existing(kubernetes)
    if found is not None:
        return found
    module, cache = find_module(kubernetes or DEFAULT), cache_folder(kubernetes or DEFAULT)
    build(module, cache, PROGRAMS, progress)
    built = _in_folders([cache])
    if built is None:
        raise PlaneFailed(f"the build in {module} left no programs in {cache}")
    return built


def find_existing(kubernetes: str | None = None) -> PlaneBinaries | None:
    """The programs that are there without a build."""
    if kubernetes is not None:
        return _in_folders([cache_folder(kubernetes)])
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    path = [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if each]
    candidates = [[Path(assets)] if assets else [], path, [cache_folder()]]
    return next(filter(None, map(_in_folders, candidates)), None)


def cache_folder(kubernetes: str = DEFAULT) -> Path:
    """The cache folder for exactly the versions in the Go module of a minor version."""
    module = find_module(kubernetes)
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
