"""Loads SQL statements by name from the files in `sql/`.

A file holds several statements, each after a line `-- name: take`. The text between two such lines
is sent to the server as it is, comments included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


@cache
def statements(file: str) -> Mapping[str, str]:
    """The statements of `sql/<file>.sql`, by name."""
    text = (files("fluxnetes.store") / "sql" / f"{file}.sql").read_text()
    _, *parts = _NAME.split(text)
    names, bodies = parts[::2], parts[1::2]
    if len(set(names)) != len(names):
        raise ValueError(f"sql/{file}.sql: duplicate name among {', '.join(names)}")
    return {name: body.strip() for name, body in zip(names, bodies, strict=True)}
