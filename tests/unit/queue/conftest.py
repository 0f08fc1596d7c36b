"""Every test of the queue runs in every way that a queue can be run; see `world`."""

from __future__ import annotations

import pytest

from tests.unit.queue.world import Way, World


@pytest.fixture(params=Way, ids=lambda way: way.name.lower(), autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    chosen: Way = request.param
    monkeypatch.setattr(World, "way", chosen)
    return chosen
