"""Starts a session: reads the graph, makes the matcher, and runs the shell or the prompt."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from fluxnetes.cli.exit_status import INTERRUPTED, closed_output
from fluxnetes.cli.resource_query.options import ResourceQueryOptions
from fluxnetes.cli.resource_query.session import CommandError, QuerySession, read_bytes
from fluxnetes.cli.resource_query.shell import run_lines
from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.readers import read_graph
from fluxnetes.match.errors import MatchError
from fluxnetes.match.matcher import Matcher


def run(options: ResourceQueryOptions) -> int:
    """Load the graph, run the session, draw the graph. Returns the exit status."""
    _tolerate_any_bytes()
    try:
        began = time.perf_counter()
        matcher = build_matcher(options)
        if options.elapse_time:
            _report_load(matcher.graph, time.perf_counter() - began)
        with _results(options.test_output) as out:
            _run_session(options, matcher, out)
        if options.graph_output is not None:
            _draw(options, matcher.graph)
    except (CommandError, GraphError, MatchError) as error:
        sys.stderr.write(f"fluxnetes resource-query: Runtime error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return closed_output()
    return 0


def build_matcher(options: ResourceQueryOptions) -> Matcher:
    """The matcher that the options describe, on the graph that they name."""
    source = read_bytes(options.load_file)
    graph = read_graph(source, options.load_format, allowlist=options.load_allowlist)
    return Matcher(
        graph,
        policy=readable_policy(options.policy),
        subsystems=options.subsystems,
        traverser=options.traverser,
        prune_filters=options.prune_filters,
    )


def readable_policy(text: str) -> str:
    """A custom policy up to its first invalid term, as the reference reads it.

    >>> readable_policy("policy=low node_centric=true colour=red")
    'policy=low node_centric=true'
    >>> readable_policy("lonode")
    'lonode'
    """
    if "=" not in text:
        return text
    booleans = ("node_centric", "node_exclusive", "stop_on_1_matches")
    known = {
        "policy=high",
        "policy=low",
        *(f"{b}={v}" for b in booleans for v in ("true", "false")),
    }
    terms = text.split(" ")
    wrong = next((i for i, term in enumerate(terms) if term not in known), len(terms))
    return " ".join(terms[:wrong]) or text


def _tolerate_any_bytes() -> None:
    """Accept bytes that are not UTF-8: they may fail a command, but not the session."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")


@contextlib.contextmanager
def _results(file: str | None) -> Iterator[TextIO]:
    """The stream for results: the file of `-t`, or standard output."""
    if file is None:
        yield sys.stdout
        return
    with _open_for_writing(file) as stream:
        yield stream


def _open_for_writing(file: str) -> TextIO:
    try:
        return Path(file).open("w", encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise CommandError(f"can't write to {file}: {error.strerror}") from None


def _run_session(options: ResourceQueryOptions, matcher: Matcher, out: TextIO) -> None:
    session = QuerySession(
        matcher,
        out,
        sys.stdout,
        sys.stderr,
        match_format=options.match_format,
        elapse_time=options.elapse_time,
    )
    if sys.stdin.isatty() and not options.disable_prompt:
        from fluxnetes.cli.resource_query.prompt import run_prompt

        run_prompt(session, _greeting(options, matcher.graph))
    else:
        run_lines(session, sys.stdin)


def _greeting(options: ResourceQueryOptions, graph: ResourceGraph) -> str:
    name = Path(options.load_file).name
    return f"{name}: {graph.vertex_count} vertices. Type help for the commands, quit to end."


def _draw(options: ResourceQueryOptions, graph: ResourceGraph) -> None:
    from fluxnetes.cli.resource_query.drawing import draw

    file = f"{options.graph_output}.{options.graph_format}"
    with _open_for_writing(file) as out:
        draw(graph, options.subsystems, options.graph_format, out)
    sys.stdout.write(f"INFO: Wrote the graph to {file}\n")


def _report_load(graph: ResourceGraph, seconds: float) -> None:
    """Write what `-e` reports about the graph."""
    lines = [
        f"Graph Load Time: {seconds:g}",
        f"Vertex Count: {graph.vertex_count}",
        f"Edge Count: {graph.edge_count}",
        f"by_type Key-Value Pairs: {len(set(graph.type_id.tolist()))}",
    ]
    ranks = sorted(Counter(graph.rank.tolist()).items())
    lines += [f"number of vertices with rank {rank}: {count}" for rank, count in ranks]
    sys.stdout.writelines(f"INFO: {line}\n" for line in lines)
