"""The page of `fluxnetes controller` says what is so."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import typer.main
import yaml

from fluxnetes.cli.controller.cluster_config import read_topology
from fluxnetes.cli.controller.config import read_cluster_config
from fluxnetes.cli.controller.options import app
from fluxnetes.cli.controller.timeouts import TIMEOUTS
from fluxnetes.cluster.labels.names import SCHEDULER_NAMES
from fluxnetes.controller.state import ControllerSettings

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "controller.md").read_text()
OPTIONS = {
    each.name: each
    for each in typer.main.get_command(app).params
    if not getattr(each, "hidden", False)
}


def rows(heading: str) -> list[list[str]]:
    """The cells of the table with this heading."""
    [table] = re.findall(rf"(?m)^\| {heading} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE)
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]


def test_the_page_has_just_the_options_that_there_are() -> None:
    known = {name for each in OPTIONS.values() for name in each.opts if name.startswith("--")}
    listed = {name for cells in rows("option") for name in re.findall(r"`(--[a-z-]+)", cells[0])}
    assert listed == known | {"--help"}


def defaults() -> dict[str, float]:
    """The timeouts by name, with their defaults."""
    settings = ControllerSettings()
    return {name: getattr(settings, field) for name, field in TIMEOUTS.items()}


def test_every_setting_has_a_timeout() -> None:
    assert set(TIMEOUTS.values()) == {each.name for each in fields(ControllerSettings)}


def test_the_page_has_the_timeouts_with_their_defaults() -> None:
    listed = {cells[0].strip("`"): float(cells[1]) for cells in rows("timeout")}
    assert listed == defaults()


def test_the_help_has_the_timeouts_with_their_defaults() -> None:
    help = str(getattr(OPTIONS["timeout"], "help", ""))
    listed = {name: float(value) for name, value in re.findall(r"([a-z-]+) \((\d+)\)", help)}
    assert listed == defaults()


def test_the_page_has_the_defaults_of_options() -> None:
    listed = {cells[0]: cells[1] for cells in rows("option")}
    assert f"`{OPTIONS['namespace'].default}`" in listed["`--namespace NAME`"]
    lease = OPTIONS["leader_elect_lease_duration"].default
    assert f"; {lease:g}," in listed["`--leader-elect-lease-duration SECONDS`"]


def test_the_queues_of_the_page_can_be_read(tmp_path: Path) -> None:
    blocks = re.findall(r"(?ms)^```yaml\n(.*?)^```$", PAGE)
    assert len(blocks) == 5
    for written in blocks:
        file = tmp_path / "queues.yaml"
        file.write_text(written)
        shown = yaml.safe_load(written).get("queues", [{"name": "default"}])
        read = read_cluster_config(file).scheduler
        read_topology(file)
        assert [queue.name for queue in read.queues] == [each["name"] for each in shown]


def test_the_page_has_the_names_and_files_that_are_used() -> None:
    assert [name for name in SCHEDULER_NAMES if f"`{name}`" not in PAGE] == []
    named = re.findall(r"`controller/manifests/([a-z.]+)`", PAGE)
    there = files("fluxnetes.controller").joinpath("manifests").iterdir()
    assert set(named) == {each.name for each in there}
