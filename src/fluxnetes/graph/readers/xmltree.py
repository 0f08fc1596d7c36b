"""Parses XML to a tree of elements, for the two readers whose documents are XML.

Entity declarations are rejected: neither format uses them, and a few lines of them can expand to
gigabytes. A DOCTYPE that names a DTD (hwloc writes one) is ignored, never fetched.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from fluxnetes.graph.columns import GraphError


def parse_xml(text: bytes | str, what: str) -> Element:
    """The root element; `what` names the expected document in an error."""
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(text.encode() if isinstance(text, str) else text, True)
        return builder.close()
    except (expat.ExpatError, UnicodeError, LookupError, ValueError) as error:
        raise GraphError(f"not {what}: {error}") from None


def _refuse_entity(name: str, *_: object) -> None:
    raise GraphError(f"the document declares the entity {name!r}; declarations are not allowed")
