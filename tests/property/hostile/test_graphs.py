"""Whatever a text says, its reader gives a graph or its own error, and the matcher an answer."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.readers.jgf import attach_jgf, read_jgf_vertices
from fluxnetes.graph.readers.rv1 import read_rv1_ranks, read_rv1_vertices
from fluxnetes.jobspec import Jobspec, JobspecError, parse_jobspec
from fluxnetes.match.answers import Operation
from fluxnetes.match.errors import MatchError
from fluxnetes.match.matcher import Matcher
from tests.property.hostile import documents
from tests.property.profile import examples

FORMATS = {
    "jgf": documents.jgf(),
    "grug": documents.grug(),
    "rv1exec": documents.rv1(),
    "hwloc": documents.hwloc(),
}


def graph_of(text: str, format: str) -> ResourceGraph | None:
    try:
        return read_graph(text, format)
    except GraphError as error:
        assert len(str(error)) < 1000
        return None


def request_of(text: str) -> Jobspec | None:
    try:
        return parse_jobspec(text)
    except JobspecError as error:
        assert len(str(error)) < 1000
        return None


def ask(matcher: Matcher, text: str) -> None:
    """Every operation gives an answer; a refusal says why, in few words."""
    request = request_of(text)
    if request is None:
        return
    for operation in Operation:
        answer = matcher.match(operation, request)
        assert answer or answer.reason is not None
        assert len(str(answer.reason)) < 3000


@pytest.mark.parametrize("format", FORMATS)
def test_a_text_gives_a_graph_on_which_every_request_is_answered(format: str) -> None:
    @examples(120)
    @given(
        FORMATS[format],
        st.lists(documents.jobspecs(), max_size=3),
        st.sampled_from(["first", "low", "lonodex"]),
        st.sampled_from(["simple", "flexible"]),
    )
    def run(text: str, requests: list[str], policy: str, traverser: str) -> None:
        graph = graph_of(text, format)
        if graph is None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy only warns when a number is too large
            matcher = Matcher(graph, policy=policy, traverser=traverser)
            for request in requests:
                ask(matcher, request)

    run()


@examples(80)
@given(documents.jgf(), documents.jgf(), documents.jobspecs())
def test_a_graph_grows_by_a_whole_document_or_not_at_all(
    text: str, more: str, request: str
) -> None:
    graph = graph_of(text, "jgf")
    if graph is None:
        return
    before = graph.copy()
    try:
        attach_jgf(graph, more)
    except GraphError:
        assert graph.is_like(before)
    ask(Matcher(graph), request)


@examples(60)
@given(documents.jgf(), documents.jgf() | documents.rv1(), documents.sizes, documents.sizes)
def test_an_allocation_that_is_adopted_is_read_or_refused(
    text: str, allocation: str, at: int, duration: int
) -> None:
    graph = graph_of(text, "jgf")
    if graph is None:
        return
    for format in ("jgf", "rv1exec"):
        try:
            Matcher(graph).update(allocation, format, jobid=1, at=at, duration=duration)
        except (GraphError, MatchError):
            continue


@examples(60)
@given(documents.rv1())
def test_ranks_of_an_allocation_are_read_or_refused(text: str) -> None:
    graph = read_graph('{"version": 1, "execution": {"R_lite": [], "nodelist": []}}', "rv1exec")
    for read in (read_rv1_ranks, lambda text: read_rv1_vertices(graph, text)):
        try:
            read(text)
        except GraphError as error:
            assert len(str(error)) < 1000


@pytest.mark.parametrize("depth", [500, 5000, 300_000])
@pytest.mark.parametrize("format", ["jgf", "rv1exec"])
def test_values_that_are_nested_too_deeply_are_refused_in_words(format: str, depth: int) -> None:
    text = '{"graph": ' + "[" * depth + "]" * depth + "}"
    with pytest.raises(GraphError, match="not a"):
        read_graph(text, format)
    with pytest.raises(GraphError):
        read_jgf_vertices(ResourceGraph(), text)
