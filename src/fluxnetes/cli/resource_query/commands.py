"""The table of commands: dispatch, `help` and completion follow from its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fluxnetes.cli.resource_query import graph_commands, job_commands
from fluxnetes.cli.resource_query.session import QuerySession, read_text

Run = Callable[[QuerySession, Sequence[str]], None]

OPERATIONS = (
    "{allocate | allocate_with_satisfiability | allocate_orelse_reserve | satisfiability | "
    "without_allocating | without_allocating_future}"
)
MANY = 1_000_000
"""Maximum words of a command that takes any number of them."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its names, usage and summary, its function, and how many arguments it takes."""

    name: str
    abbreviation: str
    usage: str
    summary: str
    run: Run
    least: int
    most: int

    @property
    def example(self) -> str:
        return f"{self.name} {self.usage}".rstrip()


def cat(session: QuerySession, args: Sequence[str]) -> None:
    """cat FILE"""
    session.say(read_text(args[0]).rstrip("\n"))
    session.say(f"INFO: Jobspec in {args[0]}")


def help(session: QuerySession, args: Sequence[str]) -> None:
    """help [COMMAND]"""
    shown = [c for c in COMMANDS if not args or args[0] in (c.name, c.abbreviation)]
    for command in shown:
        short = f" ({command.abbreviation})" if command.abbreviation else ""
        session.say(f"INFO: {command.name}{short} -- {command.summary}: {command.example}")
    if not shown:
        session.say(f"ERROR: unknown command: {args[0]}")


def quit(session: QuerySession, args: Sequence[str]) -> None:
    """quit"""
    session.ended = True


COMMANDS = (
    Command(
        "match",
        "m",
        f"{OPERATIONS} JOBSPEC",
        "Place a job now, or reserve it for later, or only ask",
        job_commands.match,
        2,
        2,
    ),
    Command(
        "multi-match",
        "M",
        f"{OPERATIONS} JOBSPEC JOBSPEC...",
        "The same for several jobs, up to the first that does not fit",
        job_commands.multi_match,
        3,
        MANY,
    ),
    Command(
        "update",
        "u",
        "{allocate | reserve} {jgf | jgf_shorthand | rv1exec} FILE JOBID START DURATION",
        "Adopt an allocation or a reservation that was made elsewhere",
        job_commands.update,
        6,
        6,
    ),
    Command(
        "attach",
        "j",
        "JGF_FILE",
        "Grow the graph by a subgraph",
        graph_commands.attach,
        1,
        1,
    ),
    Command(
        "remove",
        "",
        "{PATH true | RANKS false}",
        "Shrink the graph by what stands at a path or has these ranks",
        graph_commands.remove,
        2,
        2,
    ),
    Command(
        "find",
        "f",
        "EXPRESSION",
        "Find resources (status={up|down} sched-now={allocated|free} "
        "sched-future={reserved|free} jobid-alloc=ID jobid-reserved=ID jobid-span=ID jobid-tag=ID "
        "names=HOSTLIST property=KEY agfilter={t|f}, joined by and, or, parentheses)",
        graph_commands.find,
        1,
        MANY,
    ),
    Command(
        "cancel",
        "c",
        "JOBID [stats]",
        "Give back all that a job holds",
        job_commands.cancel,
        1,
        2,
    ),
    Command(
        "partial-cancel",
        "pc",
        "JOBID {jgf | rv1exec} FILE [stats]",
        "Give back a part of what a job holds",
        job_commands.partial_cancel,
        3,
        4,
    ),
    Command(
        "set-property",
        "p",
        "PATH KEY=VALUE",
        "Set a property of a resource",
        graph_commands.set_property,
        2,
        2,
    ),
    Command(
        "get-property",
        "g",
        "PATH",
        "Show the properties of a resource",
        graph_commands.get_property,
        1,
        1,
    ),
    Command(
        "remove-property",
        "rp",
        "PATH KEY",
        "Take a property off a resource",
        graph_commands.remove_property,
        2,
        2,
    ),
    Command(
        "set-status",
        "t",
        "PATH {up | down}",
        "Mark a resource, and so all that it holds, up or down",
        graph_commands.set_status,
        2,
        2,
    ),
    Command(
        "get-status",
        "e",
        "PATH",
        "Show whether a resource is up or down",
        graph_commands.get_status,
        1,
        1,
    ),
    Command("list", "l", "", "Show all jobs", job_commands.list_jobs, 0, MANY),
    Command("info", "i", "JOBID", "Show one job", job_commands.info, 1, 1),
    Command("stat", "s", "", "Show how long matches took", job_commands.stat, 0, 0),
    Command("cat", "a", "FILE", "Show a jobspec", cat, 1, 1),
    Command("help", "h", "[COMMAND]", "Show this", help, 0, MANY),
    Command("quit", "q", "", "End the session", quit, 0, MANY),
)

_BY_WORD = {word: c for c in COMMANDS for word in (c.name, c.abbreviation) if word}


def find_command(word: str) -> Command | None:
    """The command of this name or abbreviation."""
    return _BY_WORD.get(word)


def nearest_command(word: str) -> str | None:
    """The most similar command, for a hint."""
    from difflib import get_close_matches

    near = get_close_matches(word, [c.name for c in COMMANDS], n=1, cutoff=0.5)
    return near[0] if near else None
