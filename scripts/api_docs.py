"""Writes the reference page of the public Python API; run it with `scripts/api-docs`.

The page is made from the source text: signatures, defaults and the docstrings of classes, methods
and attributes are shown as they are written there.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import fluxnetes
import fluxnetes.client

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "python.md"

INTRODUCTION = """\
# Python API

Written by `scripts/api-docs` from the docstrings; edit those, not this page.

`fluxnetes` has the names of this page for programs that embed the matcher or the queue, and
`fluxnetes.client` those for programs that call a running service. All other modules may change
between versions. Times are whole seconds on the caller's clock unless a name says otherwise.
"""

SECTIONS = {
    "Graphs": ("graph.",),
    "Jobspecs": ("jobspec.",),
    "Matcher": ("match.",),
    "Queue": ("queue.scheduler", "queue.jobs", "queue.states", "queue.explain", "queue.changes"),
    "Configuration of the queue": ("queue.config",),
    "Events of the queue": ("queue.events",),
    "Errors of the queue": ("queue.errors",),
    "Reasons": ("common.reasons",),
}
"""The sections of the page, and the modules under `fluxnetes` whose names they show."""

_ELSEWHERE = "See the module's docstring."
"""Where a class says so, the page shows the docstring of its module in that place."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def page() -> str:
    """The text of the whole page."""
    names = [name for name in fluxnetes.__all__ if name != "__version__"]
    parts = [INTRODUCTION, "`fluxnetes.__version__` is the version of the package.\n"]
    shown: set[str] = set()
    for title, prefixes in SECTIONS.items():
        mine = [name for name in names if _module(name).startswith(prefixes)]
        shown.update(mine)
        parts += [f"## {title}\n", *(_entry(fluxnetes, name) for name in mine)]
    if left := set(names) - shown:
        raise SystemExit(f"api-docs: in no section: {', '.join(sorted(left))}")
    client = (_entry(fluxnetes.client, name) for name in fluxnetes.client.__all__)
    parts += ["## fluxnetes.client\n", _markdown(inspect.getdoc(fluxnetes.client)), *client]
    return "\n".join(parts)


def _module(name: str) -> str:
    return next(m for m, names in fluxnetes._MODULES.items() if name in names.split())


def _entry(package: ModuleType, name: str) -> str:
    """The part of the page about one public name."""
    public = getattr(package, name)
    if isinstance(public, partial):
        lines = [_partial_signature(name, public), _markdown(public.__doc__)]
    else:
        definition = _definition(public.__module__, public.__name__)
        lines = list(_describe(name, definition))
        if _ELSEWHERE in lines[1]:
            model = _markdown(inspect.getdoc(import_module(public.__module__)))
            before, _, after = lines[1].partition(_ELSEWHERE)
            lines[1] = f"{before.rstrip()}\n\n{model}{after.lstrip()}"
    return "\n".join((f"### {name}\n", *lines))


@cache
def _definitions(module: str) -> dict[str, Definition]:
    tree = ast.parse(inspect.getsource(import_module(module)))
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {each.name: each for each in tree.body if isinstance(each, kinds)}


def _definition(module: str, name: str) -> Definition:
    return _definitions(module)[name]


def _describe(name: str, definition: Definition) -> Iterator[str]:
    if not isinstance(definition, ast.ClassDef):
        yield _code(_signature(name, definition))
        yield _markdown(ast.get_docstring(definition))
        return
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    methods = [each for each in definition.body if isinstance(each, kinds)]
    constructors = [each for each in methods if each.name == "__init__"]
    bases = ", ".join(ast.unparse(base) for base in definition.bases)
    head = f"class {name}({bases})" if bases else f"class {name}"
    for constructor in constructors:
        head = "class " + _signature(name, constructor, without_self=True).removeprefix("def ")
        head = head.removesuffix(" -> None")
    yield _code(head)
    yield _markdown(ast.get_docstring(definition))
    for constructor in constructors:
        if text := ast.get_docstring(constructor):
            yield _markdown(text)
    yield from _attributes(definition)
    for method in methods:
        if not method.name.startswith("_"):
            yield from _method(method)


def _method(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    decorators = {ast.unparse(each) for each in method.decorator_list}
    text = ast.get_docstring(method)
    if decorators & {"property", "cached_property"}:
        kind = f": {ast.unparse(method.returns)}" if method.returns is not None else ""
        shown = f"{method.name}{kind}"
    else:
        shown = _signature(method.name, method, without_self="staticmethod" not in decorators)
        shown = "".join(f"@{each}\n" for each in sorted(decorators)) + shown
    yield _code(shown)
    if text:
        yield _markdown(text)


def _signature(
    name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, *, without_self: bool = False
) -> str:
    arguments = function.args
    parts = _arguments(arguments)[1:] if without_self else _arguments(arguments)
    returns = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    word = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
    return _wrapped(f"{word} {name}", parts, returns)


def _wrapped(head: str, parts: Sequence[str], tail: str) -> str:
    """A signature on one line, or with one argument a line where that is too long."""
    line = f"{head}({', '.join(parts)}){tail}"
    if len(line) <= 100:
        return line
    return "\n".join((f"{head}(", *(f"    {part}," for part in parts), f"){tail}"))


def _arguments(arguments: ast.arguments) -> list[str]:
    """Each argument as it is written, and the `*` that stands between them."""
    plain = [*arguments.posonlyargs, *arguments.args]
    padding: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    defaults = [*padding, *arguments.defaults]
    found = [_argument(each, value) for each, value in zip(plain, defaults, strict=True)]
    if arguments.vararg is not None:
        found.append("*" + _argument(arguments.vararg, None))
    elif arguments.kwonlyargs:
        found.append("*")
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    found += [_argument(each, value) for each, value in named]
    if arguments.kwarg is not None:
        found.append("**" + _argument(arguments.kwarg, None))
    return found


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(argument.annotation)}" if argument.annotation is not None else ""
    value = "" if default is None else f" = {ast.unparse(default)}"
    return f"{argument.arg}{kind}{value if kind else value.replace(' ', '')}"


def _partial_signature(name: str, public: partial[Any]) -> str:
    """The signature that is left of a function some of whose arguments are given."""
    function = _definition(public.func.__module__, public.func.__name__)
    if isinstance(function, ast.ClassDef):
        raise SystemExit(f"api-docs: {name} is made from a class; only functions are expected")
    parts = _arguments(function.args)[len(public.args) :]
    for key, value in public.keywords.items():
        parts = [
            f"{part.partition(' = ')[0]} = {value!r}" if part.startswith(f"{key}:") else part
            for part in parts
        ]
    returns = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    return _code(_wrapped(f"def {name}", parts, returns))


def _attributes(definition: ast.ClassDef) -> Iterator[str]:
    """A table of the fields of a dataclass, or of the members of an enumeration."""
    rows: list[tuple[str, str, str]] = []
    is_enum = any("Enum" in ast.unparse(base) for base in definition.bases)
    statements = [*definition.body, ast.Pass()]
    for statement, following in pairwise(statements):
        if isinstance(statement, ast.AnnAssign) and not is_enum:
            name, kind = ast.unparse(statement.target), ast.unparse(statement.annotation)
            shown = f"{kind} = {_default(statement.value)}" if statement.value else kind
        elif isinstance(statement, ast.Assign) and is_enum:
            name, shown = ast.unparse(statement.targets[0]), ast.unparse(statement.value)
        else:
            continue
        if not name.startswith("_"):
            rows.append((name, shown, _string(following)))
    if not rows:
        return
    what = ("member", "value") if is_enum else ("field", "type")
    lines = [f"| {what[0]} | {what[1]} | |", "|---|---|---|"]
    for name, shown, text in rows:
        cell = shown.replace("|", "\\|")
        lines.append(f"| `{name}` | `{cell}` | {' '.join(text.split())} |")
    yield "\n".join(lines) + "\n"


def _default(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        given = {each.arg: ast.unparse(each.value) for each in value.keywords}
        return f"{given['default_factory']}()" if "default_factory" in given else given["default"]
    return ast.unparse(value)


def _string(statement: ast.stmt) -> str:
    """The text of a docstring that follows an attribute; empty if there is none."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return str(statement.value.value)
    return ""


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"


def _markdown(text: str | None) -> str:
    """A docstring as Markdown: examples and indented blocks become blocks of code."""
    blocks = []
    for block in inspect.cleandoc(text or "").split("\n\n"):
        if block.startswith((">>>", "    ")):
            kind = "pycon" if block.startswith(">>>") else "text"
            blocks.append(f"```{kind}\n{inspect.cleandoc(block)}\n```")
        else:
            blocks.append(block)
    joined = "\n\n".join(blocks).replace("\n```\n\n```text\n", "\n\n")
    return f"{joined}\n"


def main(arguments: Sequence[str]) -> int:
    """Write the page to the file that is named, else to its place."""
    target = Path(arguments[0]) if arguments else PAGE
    target.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
