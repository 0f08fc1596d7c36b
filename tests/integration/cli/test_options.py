"""The options of resource-query mean what the reference's mean."""

from __future__ import annotations

import pytest

from fluxnetes.cli.resource_query.options import DEFAULT_PRUNE_FILTERS, parse_options


def test_defaults_are_those_of_the_reference() -> None:
    options = parse_options(["-L", "graph"])
    assert (options.load_format, options.policy) == ("grug", "first")
    assert (options.match_format, options.traverser) == ("simple", "simple")
    assert options.subsystems == ("containment",)
    assert options.prune_filters == DEFAULT_PRUNE_FILTERS
    assert options.load_allowlist is None


def test_long_options_take_their_value_after_an_equals_sign_or_as_the_next_word() -> None:
    joined = parse_options(["--load-file=graph", "--load-format=jgf", "--match-policy=low"])
    apart = parse_options(["--load-file", "graph", "--load-format", "jgf", "-Plow"])
    assert joined == apart


def test_empty_prune_filters_mean_the_default() -> None:
    assert parse_options(["-L", "graph", "-p", ""]).prune_filters == DEFAULT_PRUNE_FILTERS


def test_prune_filters_add_up() -> None:
    options = parse_options(["-L", "graph", "-p", "ALL:core", "-p", "rack:node"])
    assert options.prune_filters == "ALL:core,rack:node"


@pytest.mark.parametrize("name", ["C+PA", "c+pa"])
def test_a_pair_of_subsystems_has_the_matched_one_first(name: str) -> None:
    assert parse_options(["-L", "graph", "-S", name]).subsystems == ("containment", "power")


def test_an_allowlist_always_keeps_the_cluster() -> None:
    assert parse_options(["-L", "g", "-W", "node,core"]).load_allowlist == (
        "cluster",
        "node",
        "core",
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "-L"),
        (["-L", "graph", "-f", "csv"], "csv"),
        (["-L", "graph", "-F", "xml"], "xml"),
        (["-L", "graph", "-S", "XA"], "XA"),
        (["-L", "graph", "-T", "random"], "random"),
        (["-L", "graph", "-g", "png"], "png"),
        (["-L", "graph", "--colour"], "--colour"),
        (["-L", "graph", "stray"], "stray"),
    ],
)
def test_a_wrong_option_ends_with_status_1_and_its_name(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(arguments)
    assert ended.value.code == 1
    assert complaint in capsys.readouterr().err
