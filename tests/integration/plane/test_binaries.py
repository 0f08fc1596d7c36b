"""Where the programs come from: the first that has all of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fluxnetes.plane.binaries import PROGRAMS, cache_folder, find_binaries, find_existing
from fluxnetes.plane.build import build, find_go, find_module
from fluxnetes.plane.errors import PlaneFailed
from fluxnetes.plane.versions import DEFAULT, PINNED


@pytest.fixture(autouse=True)
def nothing_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_assets_come_before_path_and_path_before_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert find_existing() is None
    _fill(cache_folder())
    assert _found_in() == cache_folder()
    monkeypatch.setenv("PATH", str(_fill(tmp_path / "path")))
    assert _found_in() == tmp_path / "path"
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(_fill(tmp_path / "assets")))
    assert _found_in() == tmp_path / "assets"


def test_a_folder_that_lacks_one_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assets = _fill(tmp_path / "assets")
    (assets / "kwok").unlink()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    assert find_existing() is None
    _fill(cache_folder())
    assert _found_in() == cache_folder()


def test_the_cache_is_named_for_what_is_pinned(tmp_path: Path) -> None:
    cache = cache_folder()
    assert cache.parent == tmp_path / "cache" / "fluxnetes" / "controlplane"
    assert cache.name.startswith("v1.36.3-")


def test_versions_are_in_the_cache_side_by_side() -> None:
    folders = [_fill(cache_folder(version)) for version in PINNED]
    assert len(set(folders)) == len(PINNED)
    for version, folder in zip(PINNED, folders, strict=True):
        assert _found_in(version) == folder
    assert _found_in() == cache_folder(DEFAULT)


def test_a_version_that_is_asked_for_comes_from_its_own_module_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is on PATH may be of any version."""
    monkeypatch.setenv("PATH", str(_fill(tmp_path / "path")))
    assert find_existing(PINNED[-1]) is None
    _fill(cache_folder(PINNED[-1]))
    assert _found_in(PINNED[-1]) == cache_folder(PINNED[-1])


def test_a_version_that_is_not_pinned_is_refused() -> None:
    with pytest.raises(PlaneFailed, match=r"no Kubernetes 1\.20; expected one of 1\.36, 1\.37"):
        find_binaries(kubernetes="1.20")


def test_without_go_the_words_say_what_to_install() -> None:
    with pytest.raises(
        PlaneFailed, match=r"takes Go 1\.26\.0 or newer; found: none(?s:.*)fluxnetes.go."
    ):
        find_go(find_module())


def test_a_go_that_is_too_old_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _script(tmp_path / "go", "echo go1.20.3")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PlaneFailed, match=r"1\.26\.0 or newer; found: \S+/go is 1\.20\.3"):
        find_go(find_module())


def test_a_build_that_fails_says_what_go_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _script(
        tmp_path / "go", '[ "$1" = env ] && echo go1.99.0 && exit; echo out of sums >&2; exit 1'
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        PlaneFailed, match=r"building go.etcd.io/etcd/server/v3 failed(?s:.*)of sums"
    ):
        build(find_module(), tmp_path / "into", PROGRAMS)


def test_only_what_is_missing_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A build that was stopped goes on where it was."""
    made = 'while [ "$1" != -o ]; do shift; done; echo a/package >&2; echo "$3" > "$2"'
    _script(tmp_path / "go", f'[ "$1" = env ] && echo go1.99.0 && exit; {made}')
    monkeypatch.setenv("PATH", str(tmp_path))
    into = _fill(tmp_path / "into")
    (into / "kwok").unlink()
    seen: list[tuple[str, str]] = []
    build(find_module(), into, PROGRAMS, lambda program, doing: seen.append((program, doing)))
    assert seen == [("kwok", "starting"), ("kwok", "a/package")]
    assert (into / "kwok").read_text() == "sigs.k8s.io/kwok/cmd/kwok\n"


def _fill(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in PROGRAMS:
        _script(folder / name, "exit")
    return folder


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def _found_in(version: str | None = None) -> Path:
    found = find_existing(version)
    assert found is not None
    [folder] = {path.parent for path in found.paths.values()}
    assert all(os.access(path, os.X_OK) for path in found.paths.values())
    return folder
