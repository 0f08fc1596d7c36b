"""The page of `fluxnetes up` says what is so."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest
import yaml

from fluxnetes.plane.build import find_module, kubernetes_version
from fluxnetes.plane.versions import PINNED

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "up.md"
STAGES = resources.files("fluxnetes.plane") / "stages"


def test_the_page_has_just_the_annotations_that_the_kubelets_read() -> None:
    read = (STAGES / "pods.yaml").read_text() + (STAGES / "nodes.yaml").read_text()
    (section,) = re.findall(r"(?ms)^## What pods do$(.*?)^## ", PAGE.read_text())
    assert _annotations(section) == _annotations(read)


def test_the_page_has_the_versions_that_are_built() -> None:
    built = " or ".join(kubernetes_version(find_module(each)).removeprefix("v") for each in PINNED)
    assert f"({built})" in PAGE.read_text()


@pytest.mark.parametrize("version", PINNED)
def test_every_staging_module_has_the_release_of_its_kubernetes(version: str) -> None:
    module = find_module(version)
    replaced = re.findall(r"k8s\.io/\S+ => k8s\.io/\S+ (v\S+)", (module / "go.mod").read_text())
    assert kubernetes_version(module).startswith(f"v{version}.")
    assert set(replaced) == {kubernetes_version(module).replace("v1.", "v0.")}


def test_stages_have_names_of_their_own() -> None:
    files = (each for each in STAGES.iterdir() if each.name != "kwok.yaml")
    stages = [stage for file in files for stage in yaml.safe_load_all(file.read_text())]
    names = [stage["metadata"]["name"] for stage in stages]
    assert len(names) == len(set(names)) >= 9


@pytest.mark.usefixtures("binaries")
def test_the_example_in_python_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    [block] = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE.read_text())
    exec(block.replace("/tmp/plane", str(tmp_path / "plane")))  # noqa: S102, S108
    assert f"{tmp_path / 'plane' / 'kubeconfig'} https://127.0.0.1:" in capsys.readouterr().out


def _annotations(text: str) -> set[str]:
    return set(re.findall(r"fluxnetes\.io/[a-z-]+", text))
