"""Decodes an R (RFC 20) to blocks of ranks with equal resources, and the host of each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec
import numpy as np

from fluxnetes.common.arrays import Ints
from fluxnetes.graph.errors import DECODE_ERRORS, GraphError, decode_problem
from fluxnetes.notation.hostlist import MAX_HOSTS, HostlistError, decode_hostlist
from fluxnetes.notation.idset import MAX_IDS, IdsetError, decode_idset


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
    except DECODE_ERRORS as error:
        raise GraphError(f"not an RFC 20 R: {decode_problem(error)}") from None


class _IdReader:
    """Decodes the idsets of one document, and counts what they name together."""

    def __init__(self) -> None:
        self._count = 0

    def read(self, text: str, key: str) -> list[int]:
        try:
            found = decode_idset(text)
        except IdsetError as error:
            raise GraphError(f"R key {key}: {error}") from None
        self._count += len(found)
        if self._count > MAX_IDS:
            raise GraphError(f"R key {key}: the document names more than {MAX_IDS} ranks and ids")
        return found


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
    ids = _IdReader()
    blocks = [_read_block(ids, at, entry) for at, entry in enumerate(execution.rlite)]
    ranks = sorted({rank for block in blocks for rank in block.ranks})
    hosts = _read_hosts(execution.nodelist)
    if len(hosts) < len(ranks):
        raise GraphError(
            f"R has {len(ranks)} ranks in execution.R_lite and only {len(hosts)} hosts in "
            f"execution.nodelist"
        )
    properties = {
        name: ids.read(text, f"execution.properties.{name}")
        for name, text in (execution.properties or {}).items()
    }
    return Rv1Document(blocks, dict(zip(ranks, hosts, strict=False)), properties)


def _read_block(ids: _IdReader, at: int, entry: _Entry) -> RankBlock:
    key = f"execution.R_lite[{at}]"
    children = [
        (type, np.array(ids.read(text, f"{key}.children.{type}"), dtype=np.int64))
        for type, text in entry.children.items()
    ]
    return RankBlock(ids.read(entry.rank, f"{key}.rank"), children)


def read_rv1_ranks(text: bytes | str) -> list[int]:
    """The ranks that R names, sorted; nothing else of it is decoded."""
    entries = _decode(text, _RankR).execution.rlite
    ids = _IdReader()
    ranks: set[int] = set()
    for at, entry in enumerate(entries):
        ranks.update(ids.read(entry.rank, f"execution.R_lite[{at}].rank"))
    return sorted(ranks)


def _read_hosts(nodelist: Sequence[str]) -> list[str]:
    hosts: list[str] = []
    try:
        for text in nodelist:
            hosts.extend(decode_hostlist(text))
            if len(hosts) > MAX_HOSTS:
                raise HostlistError(f"it names more than {MAX_HOSTS} hosts in all")
        return hosts
    except HostlistError as error:
        raise GraphError(f"R key execution.nodelist: {error}") from None
