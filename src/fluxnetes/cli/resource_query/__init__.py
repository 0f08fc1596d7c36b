"""`fluxnetes resource-query`: a shell on the matcher, with the commands of Fluxion's tool.

    options         the command line, parsed before anything heavy is imported
    start           options -> graph -> matcher -> session -> loop
    session         one run: a matcher, and the streams for its answers
    shell           reads lines and runs commands until `quit` or the end of input
    prompt          the same at a terminal: history, completion
    commands        the table of commands, from which `help` is made
    job_commands    match, update, cancel, list, info, stat
    graph_commands  find, attach, remove, properties, status
    report          the INFO blocks, to the byte
    drawing         the graph as dot or GraphML

    line ──shell──▶ commands ──▶ matcher ──▶ report ──session──▶ output

Results (placements, and the INFO block under each) go to `-t FILE` or standard output. Output about
the session itself (list, info, stat, help, timings) goes to standard output, errors and the reason
of a failed match to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options; the rest is imported only if they are valid."""
    from fluxnetes.cli.resource_query.options import parse_options

    options = parse_options(arguments)
    from fluxnetes.cli.resource_query.start import run

    return run(options)
