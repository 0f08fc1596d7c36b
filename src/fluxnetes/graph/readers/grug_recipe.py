"""Decodes a GRUG recipe: a small GraphML document that defines how to generate a large graph.

GraphML declares attributes (`key`: an id, a name, perhaps a default) and sets values for them on
each node and edge (`data`). A node of a recipe is a kind of vertex; an edge defines which vertices
of the target kind are below which vertices of the source kind. Here that text becomes values with
every attribute filled in; `grug` then runs the recipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from xml.etree.ElementTree import Element

from fluxnetes.graph.columns import GraphError
from fluxnetes.graph.patch import CONTAINMENT
from fluxnetes.graph.readers.xmltree import parse_xml


class RecipeMethod(Enum):
    """How an edge of a recipe makes or selects its target vertices."""

    MULTIPLY = "MULTIPLY"
    """Every source holds `multi_scale` new vertices."""
    ASSOCIATE_IN = "ASSOCIATE_IN"
    """Every source holds all that exist of the target's type."""
    ASSOCIATE_BY_PATH_IN = "ASSOCIATE_BY_PATH_IN"
    """Every source holds those of the target's type that are near it in another subsystem."""


@dataclass(frozen=True, slots=True)
class RecipeVertex:
    """A node of a recipe."""

    key: str
    root: bool
    type: str
    basename: str
    size: int
    unit: str
    subsystem: str


@dataclass(frozen=True, slots=True)
class RecipeEdge:
    """An edge of a recipe; `source` and `target` are positions in `Recipe.kinds`."""

    source: int
    target: int
    subsystem: str
    method: RecipeMethod
    scale: int
    id_scope: int
    id_start: int
    id_stride: int
    near_subsystem: str
    """Where ASSOCIATE_BY_PATH_IN compares paths ..."""
    target_up: int
    """... going up so many levels from the target ..."""
    source_up: int
    """... and so many from the source."""


@dataclass(frozen=True, slots=True)
class Recipe:
    kinds: tuple[RecipeVertex, ...]
    steps: tuple[RecipeEdge, ...]


_DEFAULTS = {
    "root": "0",
    "type": "",
    "basename": "",
    "size": "1",
    "unit": "",
    "subsystem": CONTAINMENT,
    "e_subsystem": CONTAINMENT,
    "gen_method": "MULTIPLY",
    "multi_scale": "1",
    "id_scope": "0",
    "id_start": "0",
    "id_stride": "1",
    "as_tgt_subsystem": CONTAINMENT,
    "as_tgt_uplvl": "1",
    "as_src_uplvl": "1",
}
_LIMIT = 2**31 - 1
"""Largest absolute value of a number in a recipe, as in the reference's `int`."""


def read_recipe(text: bytes | str) -> Recipe:
    """Read GraphML."""
    document = parse_xml(text, "a GRUG recipe in GraphML")
    graph = document.find("graph")
    if document.tag != "graphml" or graph is None:
        raise GraphError("not a GRUG recipe: expected <graphml> with a <graph> in it")
    attributes = _Attributes(document)
    kinds = tuple(_kind(node, attributes) for node in graph.iterfind("node"))
    positions = {kind.key: at for at, kind in enumerate(kinds)}
    if len(positions) != len(kinds):
        raise GraphError("GRUG recipe: two nodes have the same id")
    steps = tuple(_step(edge, attributes, positions) for edge in graph.iterfind("edge"))
    return Recipe(kinds, steps)


class _Attributes:
    """The attributes that a document declares: their names by id, and their defaults by name."""

    def __init__(self, document: Element) -> None:
        self.names: dict[str, str] = {}
        self.defaults = dict(_DEFAULTS)
        for key in document.iterfind("key"):
            name = key.get("attr.name", "")
            self.names[key.get("id", "")] = name
            default = key.find("default")
            if default is not None:
                self.defaults[name] = (default.text or "").strip()

    def values(self, element: Element, what: str) -> _Values:
        given: dict[str, str] = {}
        for data in element.iterfind("data"):
            key = data.get("key", "")
            if key not in self.names:
                raise GraphError(f"GRUG {what}: no <key> declares {key!r}")
            given[self.names[key]] = (data.text or "").strip()
        return _Values(what, {**self.defaults, **given})


@dataclass(frozen=True, slots=True)
class _Values:
    """All attributes of one node or edge, as text."""

    what: str
    texts: dict[str, str]

    def text(self, name: str) -> str:
        return self.texts[name]

    def number(self, name: str, low: int = -_LIMIT) -> int:
        text = self.texts[name]
        digits = text.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) <= 18:
            number = int(text)
            if low <= number <= _LIMIT:
                return number
        raise GraphError(
            f"GRUG {self.what}: {name} must be a whole number from {low} to {_LIMIT}, not {text!r}"
        )


def _kind(node: Element, attributes: _Attributes) -> RecipeVertex:
    key = node.get("id", "")
    values = attributes.values(node, f"node {key!r}")
    type = values.text("type")
    if not type:
        raise GraphError(f"GRUG node {key!r}: needs a type")
    return RecipeVertex(
        key=key,
        root=values.number("root") != 0,
        type=type,
        basename=values.text("basename") or type,
        size=values.number("size", low=0),
        unit=values.text("unit"),
        subsystem=values.text("subsystem"),
    )


def _step(edge: Element, attributes: _Attributes, positions: Mapping[str, int]) -> RecipeEdge:
    source, target = edge.get("source", ""), edge.get("target", "")
    what = f"edge {edge.get('id', f'{source} -> {target}')!r}"
    for end in (source, target):
        if end not in positions:
            raise GraphError(f"GRUG {what}: no node has the id {end!r}")
    values = attributes.values(edge, what)
    return RecipeEdge(
        source=positions[source],
        target=positions[target],
        subsystem=values.text("e_subsystem"),
        method=_method(values),
        scale=values.number("multi_scale", low=0),
        id_scope=values.number("id_scope"),
        id_start=values.number("id_start"),
        id_stride=values.number("id_stride"),
        near_subsystem=values.text("as_tgt_subsystem"),
        target_up=values.number("as_tgt_uplvl", low=0),
        source_up=values.number("as_src_uplvl", low=0),
    )


def _method(values: _Values) -> RecipeMethod:
    try:
        return RecipeMethod(values.text("gen_method"))
    except ValueError:
        allowed = ", ".join(method.value for method in RecipeMethod)
        raise GraphError(
            f"GRUG {values.what}: gen_method {values.text('gen_method')!r} is not one of {allowed}"
        ) from None
