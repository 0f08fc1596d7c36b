"""The commands about the graph: find, attach, remove, properties and status."""

from __future__ import annotations

from collections.abc import Sequence

from fluxnetes.cli.resource_query.report import block
from fluxnetes.cli.resource_query.session import CommandError, QuerySession, read_text
from fluxnetes.notation.idset import decode_idset


def find(session: QuerySession, args: Sequence[str]) -> None:
    """find EXPRESSION"""
    expression = " ".join(args)
    session.result(session.render_found(session.matcher.find(expression)))
    session.result(block(f'EXPRESSION="{expression}"'))


def attach(session: QuerySession, args: Sequence[str]) -> None:
    """attach JGF_FILE: the graph grows."""
    session.matcher.attach(read_text(args[0]))


def remove(session: QuerySession, args: Sequence[str]) -> None:
    """remove PATH true | remove RANKS false: the graph shrinks."""
    target, is_path = args
    if is_path == "true":
        session.matcher.remove(target)
    elif is_path == "false":
        session.matcher.remove_ranks(decode_idset(target))
    else:
        raise CommandError(f"remove ends in true (a path) or false (ranks), found {is_path!r}")


def set_property(session: QuerySession, args: Sequence[str]) -> None:
    """set-property PATH KEY=VALUE"""
    path, assignment = args
    key, _, value = assignment.partition("=")
    if not key or not value:
        session.result(
            "Incorrect input format. \nPlease use `set-property <resource> PROPERTY=VALUE`.\n"
        )
    elif not session.matcher.graph.find_path(path):
        session.result(f"Couldn't find path {path} in resource graph.\n")
    else:
        session.matcher.set_property(path, key, value)


def get_property(session: QuerySession, args: Sequence[str]) -> None:
    """get-property PATH"""
    graph = session.matcher.graph
    for vertex in _vertices_at(session, args[0]):
        properties = graph.properties(vertex)
        for key, value in properties.items():
            session.result(f"{key}={value}\n")
        if not properties:
            uniq_id = graph.uniq_id[vertex]
            session.result(f"No properties were found for {args[0]} (vtx's uniq_id={uniq_id}).\n")


def remove_property(session: QuerySession, args: Sequence[str]) -> None:
    """remove-property PATH KEY"""
    path, key = args
    if not session.matcher.graph.find_path(path):
        session.result(f"Couldn't find path {path} in resource graph.\n")
    else:
        session.matcher.remove_property(path, key)


def set_status(session: QuerySession, args: Sequence[str]) -> None:
    """set-status PATH {up|down}"""
    path, status = args
    if not _vertices_at(session, path):
        return
    if status not in ("up", "down"):
        raise CommandError(f"unrecognized status {status!r}; there is: up, down")
    session.matcher.set_status(path, status == "up")


def get_status(session: QuerySession, args: Sequence[str]) -> None:
    """get-status PATH"""
    for vertex in _vertices_at(session, args[0]):
        status = "up" if session.matcher.graph.up[vertex] else "down"
        session.result(f"{args[0]} is {status}\n")


def _vertices_at(session: QuerySession, path: str) -> list[int]:
    """The vertices at a path; where there are none, the result says so."""
    found = session.matcher.graph.find_path(path)
    if not found:
        session.result(f"Could not find path {path} in resource graph.\n")
    return found
