"""The lanes of tests/schedule.py are those that there are."""

from __future__ import annotations

from pathlib import Path

from tests.schedule import COMPUTING, INTEGRATION, SPLIT, WAITING, lane_of, place_in_line

ROOT = Path(__file__).parents[3]


def test_every_lane_that_is_named_has_tests() -> None:
    assert [file for file in SPLIT if not (ROOT / file).is_file()] == []
    files = [each.relative_to(ROOT) for each in (ROOT / INTEGRATION).rglob("test_*.py")]
    lanes = {lane_of(f"{file}::test") for file in files}
    assert {str(INTEGRATION / name) for name in WAITING} <= lanes
    assert [beginning for beginning in COMPUTING if not (ROOT / beginning).is_dir()] == []


def test_lanes_that_wait_are_in_front_and_lanes_that_compute_at_the_end() -> None:
    files = [
        "tests/integration/controller/test_ends.py",
        "tests/integration/kube/test_client.py",
        "tests/unit/queue/test_order.py",
        "tests/property/test_gangs.py",
    ]
    places = [place_in_line(f"{file}::test") for file in files]
    assert places == sorted(places)
    assert len(set(places)) == len(places)
