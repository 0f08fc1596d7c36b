"""Parses what labels and annotations say about how close together pods are to be.

    fluxnetes.io/topology-required: example.com/rack
    fluxnetes.io/topology-spread: kubernetes.io/hostname

Kueue's annotations say some of the same. They count where none of ours is there. Which levels the
cluster has is not known here: a level is what the user wrote, with the key that said it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fluxnetes.cluster.labels import names
from fluxnetes.cluster.labels.errors import InvalidLabel

LARGEST_COUNT = 100_000
"""Maximum pods of a slice, and in one domain: as many as a group may have."""

_LEVEL = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_./]{0,315}[A-Za-z0-9])?")
_COUNT = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class LevelWord:
    """A level as a user wrote it: a node label, or its short name."""

    key: str
    """What said it: a label or annotation, or a field of an object."""
    name: str


@dataclass(frozen=True, slots=True)
class TopologyWords:
    """What an object says about how close together its pods are to be."""

    required: LevelWord | None = None
    preferred: LevelWord | None = None
    slice_level: LevelWord | None = None
    slice_size: int = 0
    spread_level: LevelWord | None = None
    spread_most: int = 0


def read_topology(values: Mapping[str, str]) -> TopologyWords | None:
    """What labels and annotations say. Raises `InvalidLabel`."""
    if any(key in values for key in names.TOPOLOGY):
        return _ours(values)
    if any(key in values for key in names.KUEUE_TOPOLOGY):
        return _kueues(values)
    return None


def _ours(values: Mapping[str, str]) -> TopologyWords:
    slice_level, slice_size = _pair(
        values, names.TOPOLOGY_SLICE, names.TOPOLOGY_SLICE_SIZE, default=None
    )
    spread_level, spread_most = _pair(
        values, names.TOPOLOGY_SPREAD, names.TOPOLOGY_SPREAD_MAX, default=1
    )
    return TopologyWords(
        required=_level(values, names.TOPOLOGY_REQUIRED),
        preferred=_level(values, names.TOPOLOGY_PREFERRED),
        slice_level=slice_level,
        slice_size=slice_size,
        spread_level=spread_level,
        spread_most=spread_most,
    )


def _kueues(values: Mapping[str, str]) -> TopologyWords:
    slice_level, slice_size = _pair(values, names.KUEUE_SLICE, names.KUEUE_SLICE_SIZE, default=None)
    return TopologyWords(
        required=_level(values, names.KUEUE_REQUIRED),
        preferred=_level(values, names.KUEUE_PREFERRED),
        slice_level=slice_level,
        slice_size=slice_size,
    )


def _pair(
    values: Mapping[str, str], level_key: str, count_key: str, *, default: int | None
) -> tuple[LevelWord | None, int]:
    """A level and the number of pods that goes with it. Neither is allowed without the level."""
    level, count = _level(values, level_key), _count(values, count_key)
    if level is None:
        if count is not None:
            raise InvalidLabel(count_key, str(count), f"{level_key} beside it")
        return None, 0
    if count is None and default is None:
        raise InvalidLabel(level_key, level.name, f"{count_key} beside it")
    return level, count or default or 0


def _level(values: Mapping[str, str], key: str) -> LevelWord | None:
    value = values.get(key)
    if value is None:
        return None
    value = value.strip()
    if not _LEVEL.fullmatch(value):
        raise InvalidLabel(key, value, "a node label that is a level, or its short name")
    return LevelWord(key, value)


def _count(values: Mapping[str, str], key: str) -> int | None:
    value = values.get(key)
    if value is None:
        return None
    value = value.strip()
    if not _COUNT.fullmatch(value) or not 1 <= int(value) <= LARGEST_COUNT:
        raise InvalidLabel(key, value, f"a whole number from 1 to {LARGEST_COUNT}")
    return int(value)
