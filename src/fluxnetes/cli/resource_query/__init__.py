"""`fluxnetes resource-query`: a thin shell on the matcher, in the language of Fluxion's tool.

    options.py         the command line, parsed before anything heavy is imported
    start.py           options -> graph -> matcher -> session -> loop
    session.py         one run: a matcher, and where its answers are written
    commands.py        the table of commands, from which `help` is made
    job_commands.py    match, update, cancel and what is known of jobs
    graph_commands.py  find, attach, remove, properties, status
    report.py          the INFO blocks, to the byte
    shell.py           lines in, commands out; stops at `quit` or the end of input
    prompt.py          the same for a person at a terminal: history, completion
    drawing.py         the graph as dot or GraphML

Results (what was placed where, and the INFO block under it) go to `-t FILE` or standard output.
What is said about the session itself (list, info, stat, help, timings) goes to standard output,
complaints and the reason of a failed match to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Parse the options first; import the rest only if they make sense."""
    from fluxnetes.cli.resource_query.options import parse_options

    options = parse_options(arguments)
    from fluxnetes.cli.resource_query.start import run

    return run(options)
