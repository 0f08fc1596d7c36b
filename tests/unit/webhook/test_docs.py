"""The page of `fluxnetes webhook` says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main

from fluxnetes.cli.webhook.options import app
from fluxnetes.cluster.labels.names import HOLD, MANAGED, QUEUED
from fluxnetes.webhook.mutate import SYSTEM_NAMESPACES, AdmissionPolicy
from fluxnetes.webhook.server import PATHS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "webhook.md").read_text()


def test_the_page_has_just_the_options_that_there_are() -> None:
    command = typer.main.get_command(app)
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    known = {name for option in shown for name in option.opts if name.startswith("--")}
    [table] = re.findall(r"(?ms)^## Options\n(.*?)^It prints", PAGE)
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(--[a-z-]+)", row)}
    assert listed == known | {"--help"}


def test_the_page_has_the_names_and_paths_that_are_used() -> None:
    names = (*PATHS, *SYSTEM_NAMESPACES, AdmissionPolicy().namespace, MANAGED, QUEUED, HOLD)
    assert [name for name in names if f"`{name}" not in PAGE and f" {name}" not in PAGE] == []
