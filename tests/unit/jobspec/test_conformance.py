"""Every jobspec of the reference's recorded sessions was accepted by it, so we accept it too.

The sessions are not part of this repository: FLUXNETES_CONFORMANCE says where they are.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from fluxnetes.jobspec import Resource, parse_jobspec

_BESIDE = Path(__file__).resolve().parents[4] / "shared" / "conformance"
FOLDER = Path(os.environ.get("FLUXNETES_CONFORMANCE", _BESIDE)) / "t/data/resource/jobspecs"
FILES = sorted(FOLDER.rglob("*.yaml"))

MISSING = f"no recorded sessions at {FOLDER}: set FLUXNETES_CONFORMANCE to their folder"


def types(resource: Resource) -> list[str]:
    return [resource.type, *(inner for child in resource.children for inner in types(child))]


def types_in(document: object) -> list[str]:
    """The types that a document names, by plain search."""
    if isinstance(document, list):
        return [found for entry in document for found in types_in(entry)]
    assert isinstance(document, dict)
    return [document["type"], *types_in(document.get("with", []))]


@pytest.mark.skipif(not FILES, reason=MISSING)
def test_every_recorded_jobspec_is_read_whole() -> None:
    assert len(FILES) > 100
    for file in FILES:
        text = file.read_text()
        jobspec = parse_jobspec(text)
        expected = yaml.safe_load(text)
        found = [inner for resource in jobspec.resources for inner in types(resource)]
        assert found == types_in(expected["resources"]), file
        assert jobspec.duration == expected["attributes"]["system"]["duration"], file
