"""The reference of labels has every name that we read or write, and no other of ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fluxnetes.cluster.labels import names
from fluxnetes.cluster.labels.parse import LARGEST_SIZE, MOST_REFERENCES
from fluxnetes.cluster.labels.walltimes import parse_walltime

REFERENCE = Path(__file__).parents[4] / "docs" / "reference" / "labels.md"
TEXT = REFERENCE.read_text()

CONSTANTS = {
    value
    for key, value in vars(names).items()
    if key.isupper() and isinstance(value, str) and key not in ("PREFIX", "JOBSPEC", "AVAILABILITY")
}
OLD = {key for dialect in names.DIALECTS for key in (dialect.group, dialect.size)}


@pytest.mark.parametrize("name", sorted(CONSTANTS | OLD | {*names.GATES, *names.SCHEDULER_NAMES}))
def test_every_name_is_in_the_reference(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_every_key_of_ours_in_the_reference_exists() -> None:
    found = set(re.findall(r"\bfluxnetes\.io/[a-z-]+", TEXT))
    assert found == names.MARKS | names.WRITTEN


def test_dialects_are_listed_in_the_order_in_which_they_count() -> None:
    table = TEXT.split("## Dialects")[1].split("##")[0]
    places = [table.index(f"| `{dialect.group}` | `{dialect.size}`") for dialect in names.DIALECTS]
    assert places == sorted(places)


def test_limits_are_stated_as_they_are() -> None:
    assert f"1 to {LARGEST_SIZE}" in TEXT
    assert f"up to {MOST_REFERENCES}" in TEXT


def test_the_walltimes_shown_are_walltimes() -> None:
    shown = TEXT.split("A walltime is one of")[1].split("and at least")[0]
    examples = [each for each in re.findall(r"`([^`]+)`", shown) if any(map(str.isdigit, each))]
    assert len(examples) == 6
    for example in examples:
        assert parse_walltime(example)
