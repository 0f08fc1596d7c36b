"""Decodes an R (RFC 20) to blocks of ranks with equal resources, and the host of each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec
import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.columns import GraphError
from fluxnetes.notation.hostlist import HostlistError, decode_hostlist
from fluxnetes.notation.idset import IdsetError, decode_idset


class _Entry(msgspec.Struct, frozen=True):
    rank: str
    children: dict[str, str]


class _Execution(msgspec.Struct, frozen=True):
    nodelist: list[str]
    rlite: list[_Entry] = msgspec.field(name="R_lite")
    properties: dict[str, str] | None = None


class _R(msgspec.Struct, frozen=True):
    version: Literal[1]
    execution: _Execution


class _RankEntry(msgspec.Struct, frozen=True):
    rank: str


class _RankExecution(msgspec.Struct, frozen=True):
    rlite: list[_RankEntry] = msgspec.field(name="R_lite")


class _RankR(msgspec.Struct, frozen=True):
    """The part of R that has its ranks."""

    version: Literal[1]
    execution: _RankExecution


_Document = TypeVar("_Document", _R, _RankR)


def _decode(text: bytes | str, type: type[_Document]) -> _Document:
    try:
        return msgspec.json.decode(text, type=type)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise GraphError(f"not an RFC 20 R: {error}") from None


def _ids(text: str, key: str) -> list[int]:
    try:
        return decode_idset(text)
    except IdsetError as error:
        raise GraphError(f"R key {key}: {error}") from None


@dataclass(frozen=True, slots=True)
class RankBlock:
    """An entry of R_lite: the resources that each of its ranks holds."""

    ranks: list[int]
    children: list[tuple[str, Ints]]


@dataclass(frozen=True, slots=True)
class Rv1Document:
    """R, decoded."""

    blocks: list[RankBlock]
    hosts: dict[int, str]
    """By rank."""
    properties: dict[str, list[int]]


def read_resources(text: bytes | str) -> Rv1Document:
    execution = _decode(text, _R).execution
    blocks = [_read_block(at, entry) for at, entry in enumerate(execution.rlite)]
    ranks = sorted({rank for block in blocks for rank in block.ranks})
    hosts = _read_hosts(execution.nodelist)
    if len(hosts) < len(ranks):
        raise GraphError(
            f"R has {len(ranks)} ranks in execution.R_lite and only {len(hosts)} hosts in "
            f"execution.nodelist"
        )
    properties = {
        name: _ids(text, f"execution.properties.{name}")
        for name, text in (execution.properties or {}).items()
    }
    return Rv1Document(blocks, dict(zip(ranks, hosts, strict=False)), properties)


def _read_block(at: int, entry: _Entry) -> RankBlock:
    key = f"execution.R_lite[{at}]"
    children = [
        (type, np.array(_ids(text, f"{key}.children.{type}"), dtype=np.int64))
        for type, text in entry.children.items()
    ]
    return RankBlock(_ids(entry.rank, f"{key}.rank"), children)


def read_rv1_ranks(text: bytes | str) -> list[int]:
    """The ranks that R names, sorted; nothing else of it is decoded."""
    entries = _decode(text, _RankR).execution.rlite
    ranks = (_ids(entry.rank, f"execution.R_lite[{at}].rank") for at, entry in enumerate(entries))
    return sorted({rank for some in ranks for rank in some})


def _read_hosts(nodelist: Sequence[str]) -> list[str]:
    try:
        return [host for text in nodelist for host in decode_hostlist(text)]
    except HostlistError as error:
        raise GraphError(f"R key execution.nodelist: {error}") from None
