"""Where the programs of the control plane come from. The first hit wins:

1. the folder that KUBEBUILDER_ASSETS names, if it has all of them;
2. PATH, if all of them are on it;
3. the cache of an earlier build: `fluxnetes/controlplane` below XDG_CACHE_HOME or ~/.cache, in a
   folder whose name says which versions they are;
4. a build from the pinned Go module `controlplane/` (see `build`), into that cache.

Whoever brings programs of his own (1 and 2) decides which versions they are.
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
    """Get them, by a build if need be."""
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
    """Those that can be had without a build."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    path = [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if each]
    places = [[Path(assets)] if assets else [], path, [cache_folder()]]
    return next(filter(None, map(_in_folders, places)), None)


def cache_folder() -> Path:
    """Where programs of just the versions in the Go module are, or will be."""
    module = find_module()
    pinned = (module / "go.mod").read_bytes() + (module / "go.sum").read_bytes()
    digest = hashlib.sha256(pinned).hexdigest()[:12]
    told = os.environ.get("XDG_CACHE_HOME")
    top = Path(told) if told else Path.home() / ".cache"
    return top / "fluxnetes" / "controlplane" / f"{kubernetes_version(module)}-{digest}"


def _in_folders(folders: Sequence[Path]) -> PlaneBinaries | None:
    where = os.pathsep.join(map(str, folders))
    found = {name: shutil.which(name, path=where) for name in PROGRAMS} if where else {}
    paths = {name: Path(path) for name, path in found.items() if path}
    return PlaneBinaries(paths) if len(paths) == len(PROGRAMS) else None
