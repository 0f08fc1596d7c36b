"""What every format promises, and the two for people."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fluxnetes.graph.columns import GraphError
from fluxnetes.graph.writers import COMPLETE, FORMATS, render
from tests.unit.graph.writers.placements import a_cluster, nothing, place


def test_simple_writes_children_before_their_parent_and_indents_the_root_too() -> None:
    graph = a_cluster()
    placement = place(graph, "/tiny0/node1/core0", "/tiny0/node1/memory0")
    assert render("simple", graph, placement) == (
        "      ---------core0[1:x]\n"
        "      ---------memory0[8:x]\n"
        "      ------node1[1:s]\n"
        "      ---tiny0[1:s]\n"
    )


def test_pretty_simple_writes_the_root_first_and_whole_words() -> None:
    graph = a_cluster()
    placement = place(graph, "/tiny0/node1/core0", "/tiny0/node1/memory0")
    assert render("pretty_simple", graph, placement) == (
        "      ---tiny0[1:shared]\n"
        "      ------node1[1:shared]\n"
        "      ---------memory0[8:exclusive]\n"
        "      ---------core0[1:exclusive]\n"
    )


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_placement_is_written_as_nothing(format: str) -> None:
    assert render(format, a_cluster(), nothing()) == ""


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_ends_with_one_newline(format: str) -> None:
    graph = a_cluster()
    text = render(format, graph, place(graph, "/tiny0/node0/core0"))
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_the_formats_are_those_of_the_reference() -> None:
    assert set(FORMATS) == {
        "simple",
        "pretty_simple",
        "jgf",
        "jgf_shorthand",
        "rlite",
        "rv1",
        "rv1_shorthand",
        "rv1_nosched",
    }


def test_an_unknown_format_is_refused_and_the_known_ones_are_named() -> None:
    graph = a_cluster()
    with pytest.raises(GraphError, match=r"'yaml'.*simple.*rv1_nosched"):
        render("yaml", graph, place(graph, "/tiny0/node0"))


def test_every_shorthand_has_a_complete_counterpart() -> None:
    assert {name for name in FORMATS if COMPLETE[name] != name} == {
        "jgf_shorthand",
        "rv1_shorthand",
    }
    assert set(COMPLETE.values()) <= set(FORMATS)


def test_writing_needs_neither_yaml_nor_xml() -> None:
    program = (
        "import sys, fluxnetes.graph.writers; "
        "print([name for name in ('yaml', 'xml') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"
