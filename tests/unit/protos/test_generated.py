"""The Python of our messages is that of the .proto files."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.unit.protos.buf import ROOT

SOURCES = sorted((ROOT / "src").rglob("*.proto"))


def test_the_python_beside_every_proto_is_what_would_be_written_today(tmp_path: Path) -> None:
    subprocess.run([ROOT / "scripts" / "protos", tmp_path], check=True, timeout=60)
    written = {file.relative_to(tmp_path): file.read_text() for file in tmp_path.rglob("*.py*")}
    there = {file: (ROOT / "src" / file).read_text() for file in written}
    assert len(written) == 2 * len(SOURCES)
    assert [str(file) for file in written if written[file] != there[file]] == []


def test_no_python_is_left_of_a_proto_that_is_gone() -> None:
    names = {file.with_suffix("") for file in SOURCES}
    found = [file for end in ("py", "pyi") for file in (ROOT / "src").rglob(f"*_pb2.{end}")]
    left = [file for file in found if file.with_name(file.stem.removesuffix("_pb2")) not in names]
    assert found
    assert left == []
