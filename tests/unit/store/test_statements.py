"""SQL lives in files, and all of it is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fluxnetes.store
from fluxnetes.store.migrate import migrations
from fluxnetes.store.statements import statements

FOLDER = Path(fluxnetes.store.__path__[0])
CODE = "\n".join(path.read_text() for path in FOLDER.glob("*.py"))
FILES = sorted(path.stem for path in (FOLDER / "sql").glob("*.sql"))


@pytest.mark.parametrize("file", FILES)
def test_every_statement_is_named_and_used(file: str) -> None:
    found = statements(file)
    assert found
    for name, text in found.items():
        assert text.endswith(";")
        assert f'"{name}"' in CODE, f"{name} of sql/{file}.sql is not used"


def test_no_sql_is_written_in_code() -> None:
    assert re.findall(r"\b(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER)\b", CODE) == []


def test_migrations_are_numbered_without_gaps() -> None:
    steps = migrations()
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.name and step.script for step in steps)
