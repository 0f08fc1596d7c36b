"""The pages about `fluxnetes up` and about the manifests say what is so."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main
import yaml

from fluxnetes.cli.up.options import app

ROOT = Path(__file__).resolve().parents[3]
MANIFESTS = ROOT / "examples" / "kubernetes"


def test_the_page_has_just_the_options_that_there_are() -> None:
    page = (ROOT / "docs" / "reference" / "up.md").read_text()
    documented = set(re.findall(r"(?m)^\| `(--[a-z-]+)", page))
    assert documented == {name for each in typer.main.get_command(app).params for name in each.opts}


def test_the_readme_begins_with_the_demo_and_the_tests() -> None:
    first, *_ = re.findall(r"(?ms)^```sh\n(.*?)^```$", (ROOT / "README.md").read_text())
    lines = [line.partition("#")[0].strip() for line in first.splitlines()]
    assert lines == ["scripts/run up --demo", "scripts/test"]


def test_every_manifest_is_documented_and_every_documented_one_is_there() -> None:
    section = (ROOT / "examples" / "README.md").read_text().split("## For the matcher")[0]
    documented = set(re.findall(r"`([a-z0-9-]+\.yaml)`", section))
    assert documented == {each.name for each in MANIFESTS.iterdir()}


def test_all_manifests_can_be_applied_side_by_side() -> None:
    names = [
        (each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"])
        for file in MANIFESTS.iterdir()
        for each in yaml.safe_load_all(file.read_text())
    ]
    assert len(names) == len(set(names)) > 30
