"""Every test of the queue runs in every way that a queue can be run; see `world`."""

from __future__ import annotations

import pytest

from tests.property.profile import IS_QUICK
from tests.unit.queue.world import Way, World

WAYS = [Way.COUNTING, Way.RESTARTED_ROWS] if IS_QUICK else list(Way)
"""A quick run plans in both ways and restarts or not, but not in all combinations."""


@pytest.fixture(params=WAYS, ids=lambda way: way.name.lower(), autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    chosen: Way = request.param
    monkeypatch.setattr(World, "way", chosen)
    return chosen
