"""What the pages on the service show is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.client.pages import PAGES, play


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_block_shows_what_happens(page: Path) -> None:
    text = page.read_text()
    assert "```console" in text
    assert play(text) == text
