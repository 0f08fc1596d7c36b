"""Messages that no client means: random bytes, torn messages, and values from the edges."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass

from tests.integration.rpc.dialects import service_of
from tests.integration.rpc.graphs import a_cluster, another_node, of_kubernetes
from tests.integration.rpc.jobspecs import nodes, slots
from tests.integration.rpc.ours import SERVICES

INTS = (0, 1, -1, 2, 7, 1000, 2**31 - 1, -(2**31), 2**53, 2**63 - 1, -(2**63), 2**64 - 1)
DEEP = 20_000

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
"""Small as a text, and 10^9 words when all that it refers to is written out."""

XML_BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><graphml>&i;</graphml>"
)

TEXTS = (
    "",
    " ",
    "\x00",
    "a" * 300,
    "\U0001f9e8",
    "{",
    "[]",
    "null",
    "-1",
    "1e999",
    "jgf",
    "grug",
    "rv1",
    "hwloc",
    "lonode",
    "/cluster0",
    "/cluster0/node1",
    "[" * DEEP,
    '{"a":' * DEEP,
    "- " * DEEP,
    BOMB,
    XML_BOMB,
    slots(1, 1),
    slots(2**32 - 1, 2**32 - 1),
    slots(1, 1).replace('"count": 1', '"count": {"min": 1, "max": 4294967295}'),
    slots(1, 1).replace("3600", "1e300"),
    slots(1, 1).replace("3600", "-5"),
    slots(1, 1).replace("3600", ".nan"),
    nodes(2**31, 1),
    a_cluster(1, 1),
    a_cluster(1, 1).replace('"id": 0', f'"id": {2**70}'),
    a_cluster(1, 1).replace('"source": "0"', '"source": "1"'),
    a_cluster(1, 1, memory=2**62),
    another_node(5, 1),
    of_kubernetes({"a": ["n"]}),
    '{"version": 1, "execution": {"R_lite": [{"rank": "0-4294967295", "children": {}}]}}',
    '{"version": 1, "execution": {"R_lite": [{"rank": "0", "children": {"core": "0-99999999"}}]}}',
)


def all_methods() -> Iterator[tuple[ServiceDescriptor, MethodDescriptor]]:
    """Every method of every service that a server has by default, old and new."""
    old = [service_of(dialect) for dialect in ("jobspec", "fluxcli", "external")]
    for service in (*SERVICES.values(), *old):
        for method in service.methods:
            yield service, method


def nonsense(draw: random.Random, method: MethodDescriptor) -> bytes:
    """Bytes that may or may not be a message."""
    match draw.randrange(3):
        case 0:
            return draw.randbytes(draw.randrange(200))
        case 1:
            whole = strange(draw, method)
            return whole[: draw.randrange(len(whole) + 1)]
    torn = bytearray(strange(draw, method)[:10_000])
    for _ in range(min(len(torn), 1 + draw.randrange(8))):
        torn[draw.randrange(len(torn))] = draw.randrange(256)
    return bytes(torn)


def strange(draw: random.Random, method: MethodDescriptor) -> bytes:
    """A message as it should be, with values as they should not."""
    message = GetMessageClass(method.input_type)()
    _fill(draw, message, 0)
    data: bytes = message.SerializeToString()
    return data


def _fill(draw: random.Random, message: Any, depth: int) -> None:
    for field in message.DESCRIPTOR.fields:
        if draw.random() < 0.3:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            key = draw.choice(["core", "cpu", "", "node", "x" * 100])
            getattr(message, field.name)[key] = draw.choice(INTS[:-1])
        elif field.message_type is not None:
            _fill_message(draw, message, field, depth)
        else:
            _set(draw, message, field)


def _fill_message(draw: random.Random, message: Any, field: FieldDescriptor, depth: int) -> None:
    if depth > 3:
        return
    inner = getattr(message, field.name)
    for _ in range(draw.randrange(3) if field.is_repeated else 1):
        _fill(draw, inner.add() if field.is_repeated else inner, depth + 1)


def _set(draw: random.Random, message: Any, field: FieldDescriptor) -> None:
    kind = field.cpp_type
    value: Any
    if kind == FieldDescriptor.CPPTYPE_STRING:
        value = draw.choice(TEXTS)
    elif kind == FieldDescriptor.CPPTYPE_BOOL:
        value = draw.random() < 0.5
    elif kind == FieldDescriptor.CPPTYPE_ENUM:
        value = draw.choice([0, 1, 2, 3, 99])
    else:
        value = draw.choice([each for each in INTS if _fits(each, kind)])
    if field.is_repeated:
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)


def _fits(number: int, kind: int) -> bool:
    bits, signed = {
        FieldDescriptor.CPPTYPE_INT32: (31, True),
        FieldDescriptor.CPPTYPE_INT64: (63, True),
        FieldDescriptor.CPPTYPE_UINT64: (64, False),
    }.get(kind, (31, True))
    return bool((-(2**bits) if signed else 0) <= number < 2**bits)
