"""What `bench/service` makes of what was measured, and what it lets pass."""

from __future__ import annotations

import pytest

from bench.service_limits import show_limits
from bench.service_run import Result
from bench.service_table import HEADER, Row


def found(rate: float, wait: float = 0.01) -> Result:
    """A second of so many pairs; the last match took ten times as long as the others."""
    waits = (wait,) * (int(rate) - 1) + (10 * wait,)
    return Result(1.0, waits, cpu=0.5)


def test_a_row_tells_the_best_round_beside_the_empty_servers_best() -> None:
    row = Row("jobspec", (found(90), found(500), found(400)), (found(9), found(1000), found(2)))
    assert str(row).split() == ["jobspec", "500", "10.0", "10.0", "1.00", "2000", "0.50"]
    assert row.rate == 500


def test_a_row_without_an_empty_server_has_nothing_to_compare_with() -> None:
    row = Row("jobspec, --store", (found(100),))
    assert str(row).split()[2:] == ["100", "10.0", "10.9", "5.00"]


def test_what_is_reported_stands_below_its_heading() -> None:
    row = Row("jobspec", (found(500),), (found(1000),))
    assert len(str(row)) == len(HEADER)


@pytest.mark.parametrize(("case", "good", "bad"), [("jobspec", 500.0, 499.9), ("init", 5.0, 5.01)])
def test_a_figure_beyond_its_limit_is_seen(
    case: str, good: float, bad: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show_limits({case: good})
    assert "NOT KEPT" not in capsys.readouterr().out
    assert not show_limits({case: bad, "podspec": 1.0})
    assert "NOT KEPT" in capsys.readouterr().out


def test_what_was_not_measured_is_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_limits({"podspec": 1.0})
    assert capsys.readouterr().out == ""
