"""Reasons are data: their text is made at the edges, and no code reads it back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.common.reasons import ReasonCode
from tests.unit.architecture.tree import ROOT, parse

RENDERERS = {
    "fluxnetes.common.reasons.text",
    "fluxnetes.cluster.reason_text",
    "fluxnetes.service.views.reason_text",
}
EDGES = {
    "common/reasons/model.py": "`str` of a reason, for people in a Python shell",
    "cluster/reason_text.py": "the renderer for users of Kubernetes",
    "controller/reporting/job_names.py": "events, conditions and FluxJobs",
    "controller/reporting/wait_texts.py": "the times in them",
    "controller/reconcile.py": "the log lines of actions",
    "rpc/call.py": "trailing metadata and errors",
    "rpc/api/jobs.py": "messages of fluxnetes.v1",
    "rpc/api/writing.py": "messages of fluxnetes.v1",
    "service/views/reason_text.py": "callers of the service, in their units",
    "service/views/jobs.py": "the lines of a job's story",
    "cli/simulate/job_texts.py": "forecasts, for the users of the queue",
    "simulate/document.py": "the JSON of forecasts",
    "store/codec/reasons.py": "the text column beside the data",
}
"""The modules that turn reasons into text, and for which reader."""

READING = {
    *("startswith", "endswith", "split", "rsplit", "partition", "rpartition", "removeprefix"),
    *(
        "removesuffix",
        "find",
        "index",
        "match",
        "fullmatch",
        "search",
        "sub",
        "findall",
        "finditer",
    ),
}
PAGE = ROOT.parents[1] / "docs" / "reference" / "reasons.md"


def sources() -> Iterator[Path]:
    return (each for each in ROOT.rglob("*.py") if not each.name.endswith("_pb2.py"))


def imported(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return found


def is_text_of_a_reason(node: ast.AST) -> bool:
    """Whether an expression is a reason, or was made from one."""
    for each in ast.walk(node):
        match each:
            case ast.Attribute(attr="reason") | ast.Name(id="reason"):
                return True
            case ast.Call(func=ast.Name(id="reason_text" | "caller_text")):
                return True
    return False


def readings(tree: ast.AST) -> Iterator[ast.AST]:
    """Places where the words of a reason decide something."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=args):
                if name in READING and any(map(is_text_of_a_reason, (value, *args))):
                    yield node
            case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()]):
                if any(map(is_text_of_a_reason, node.comparators)):
                    yield node


def test_only_the_edges_turn_reasons_into_text() -> None:
    found = {str(path.relative_to(ROOT)) for path in sources() if imported(parse(path)) & RENDERERS}
    assert found == set(EDGES)


@pytest.mark.parametrize("path", sorted(sources()), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_code_reads_the_words_of_a_reason(path: Path) -> None:
    assert [node.lineno for node in readings(parse(path)) if isinstance(node, ast.expr)] == []


@pytest.mark.parametrize(
    "code",
    [
        'job.reason.startswith("withdrawn: ")',
        're.sub("a", "b", job.reason)',
        'if "withdrawn" in str(job.reason): pass',
        'reason_text(job.reason).partition(": ")',
        "_AMOUNT.sub(with_unit, reason)",
    ],
)
def test_what_reads_words_is_found(code: str) -> None:
    assert list(readings(ast.parse(code)))


def test_every_code_is_documented() -> None:
    page = PAGE.read_text()
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(listed) == sorted(code.value for code in ReasonCode)
