"""Parses what labels and annotations ask for, in every dialect.

An annotation takes precedence over a label of the same key, our own keys over those of earlier
systems, and those in the order of `names.DIALECTS`. A size is taken from the dialect of the group's
name if that has one, else from any other.

An invalid value is an error that names the key. Keys that begin like ours but are unknown are
listed in `WorkloadLabels.unknown`, since they are most likely misspelt.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from math import ceil
from typing import TypeVar

from fluxnetes.cluster.labels import names, walltimes
from fluxnetes.cluster.labels.names import DIALECTS, OURS, LabelDialect
from fluxnetes.jobspec.errors import quote
from fluxnetes.kube.objects.base import Metadata

LARGEST_SIZE = 100_000
"""Maximum members of a group."""
LARGEST_PRIORITY = 2**31 - 1
INCOMPLETE_ACTIONS = ("wait", "requeue", "fail")
MOST_REFERENCES = 100
"""Maximum workloads that one can depend on."""

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_OBJECT_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")
_SIZE = re.compile(r"[0-9]{1,9}")
_PRIORITY = re.compile(r"[+-]?[0-9]{1,10}")
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_REFERENCE = re.compile(r"[a-z]{1,63}/[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")
_OLD = frozenset(key for each in DIALECTS for key in (each.group, each.size))
_NO_LABELS = frozenset(
    key for each in DIALECTS if each.annotations_only for key in (each.group, each.size)
)
_WORDS = ("flu", "pod-group", "group-name", "volcano", names.JOBSPEC)
"""Every key that counts has one of these in it."""
_T = TypeVar("_T")


class InvalidLabel(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A label or annotation whose value is invalid.

    >>> print(InvalidLabel("fluxnetes.io/group-size", "two", "a whole number from 1 to 100000"))
    fluxnetes.io/group-size: found 'two', expected a whole number from 1 to 100000
    """

    def __init__(self, key: str, value: str, expected: str) -> None:
        super().__init__(key, value, expected)
        self.key = key
        self.value = value
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.key}: found {quote(self.value)}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class WorkloadLabels:
    """What an object asks for by its labels and annotations."""

    group: str | None = None
    dialect: str = ""
    """The dialect of the key that named the group, or else its size."""
    size: int | None = None
    min_size: int | None = None
    max_size: int | None = None
    walltime: int | None = None
    """Seconds."""
    queue: str | None = None
    exclusive: bool = False
    priority: int | None = None
    hold: bool = False
    begin: int | None = None
    """Seconds since 1970."""
    after: tuple[tuple[str, str], ...] = ()
    """What must have happened (`after`: started, `afterok`, `afterany`), and to what (`job/a`)."""
    incomplete: str = "wait"
    """What to do about a gang that lost some of its pods and cannot replace them: `wait`,
    `requeue` or `fail`."""
    pod_group: str | None = None
    """The name of a PodGroup, which may or may not exist."""
    zone_together: bool = False
    """Whether it asked Fluence for one zone and one node, which is not supported."""
    unknown: tuple[str, ...] = ()
    """Unknown keys that begin like ours."""


NO_OPTIONS = WorkloadLabels()


def read_options(metadata: Metadata) -> WorkloadLabels:
    """What an object asks for. Raises `InvalidLabel`."""
    # Most objects ask for nothing, and pods come by the ten thousand. Those of a gang are alike.
    keys = "\n".join((*metadata.labels, *metadata.annotations))
    if not any(word in keys for word in _WORDS):
        return NO_OPTIONS
    labels = {key: value for key, value in metadata.labels.items() if key not in _NO_LABELS}
    merged = {**labels, **metadata.annotations}
    return _read(tuple(item for item in merged.items() if _counts(item[0])))


def options_or_error(metadata: Metadata) -> tuple[WorkloadLabels, str]:
    """What an object asks for, or nothing and what is wrong with its labels."""
    try:
        return read_options(metadata), ""
    except InvalidLabel as error:
        return NO_OPTIONS, str(error)


def _counts(key: str) -> bool:
    if key.startswith(names.PREFIX):
        return key not in names.WRITTEN and key not in names.PLAYED
    return key in _OLD or names.JOBSPEC in key


@lru_cache(maxsize=4096)
def _read(items: tuple[tuple[str, str], ...]) -> WorkloadLabels:
    values = _Values(items)
    dialect, group = _group(values)
    sized, size = _size(values, dialect)
    least, most = values.read(names.MIN_SIZE, _count), values.read(names.MAX_SIZE, _count)
    _check_order(
        (names.MIN_SIZE, least), (sized.size if sized else "", size), (names.MAX_SIZE, most)
    )
    chosen = dialect or sized
    options = WorkloadLabels(
        group=group,
        dialect=chosen.name if chosen else "",
        size=size,
        min_size=least,
        max_size=most,
        walltime=values.read(names.WALLTIME, _walltime),
        queue=values.read(names.QUEUE, _name),
        exclusive=values.read(names.EXCLUSIVE, _flag) or False,
        priority=values.read(names.PRIORITY, _priority),
        hold=values.read(names.HOLD, _flag) or False,
        begin=values.read(names.BEGIN, _moment),
        after=_after(values),
        incomplete=values.read(names.INCOMPLETE, _incomplete) or "wait",
        pod_group=group if dialect and dialect.of_object else None,
        zone_together=any(names.JOBSPEC in key and value == "zone" for key, value in items),
        unknown=tuple(sorted(key for key, _ in items if _is_unknown(key))),
    )
    return NO_OPTIONS if options == NO_OPTIONS else options


def _is_unknown(key: str) -> bool:
    return key.startswith(names.PREFIX) and key not in names.MARKS


class _Values:
    """The values by key."""

    def __init__(self, items: tuple[tuple[str, str], ...]) -> None:
        self._values = dict(items)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def read(self, key: str, parse: Callable[[str, str], _T]) -> _T | None:
        value = self._values.get(key)
        return None if value is None else parse(key, value.strip())


# --- groups ------------------------------------------------------------------------------------


def _group(values: _Values) -> tuple[LabelDialect | None, str | None]:
    for dialect in DIALECTS:
        if dialect.group in values:
            parse = _object_name if dialect.annotations_only else _name
            return dialect, values.read(dialect.group, parse)
    return None, None


def _size(values: _Values, chosen: LabelDialect | None) -> tuple[LabelDialect | None, int | None]:
    for dialect in (OURS, *((chosen,) if chosen else ()), *DIALECTS):
        if dialect.size in values:
            return dialect, values.read(dialect.size, _count)
    return None, None


def _check_order(*sizes: tuple[str, int | None]) -> None:
    """Check that minimum, size and maximum, as far as they are given, are in order."""
    given = [(key, size) for key, size in sizes if size is not None]
    for (low_key, low), (high_key, high) in pairwise(given):
        if low > high:
            raise InvalidLabel(low_key, str(low), f"at most {high_key}, which is {high}")


# --- values ------------------------------------------------------------------------------------


def _name(key: str, value: str) -> str:
    if not _NAME.fullmatch(value):
        expected = "a name of at most 63 letters, digits, '-', '_' and '.', as a label may hold"
        raise InvalidLabel(key, value, expected)
    return value


def _object_name(key: str, value: str) -> str:
    if not _OBJECT_NAME.fullmatch(value):
        expected = "the name of a PodGroup: at most 253 lower case letters, digits, '-' and '.'"
        raise InvalidLabel(key, value, expected)
    return value


def _count(key: str, value: str) -> int:
    if not _SIZE.fullmatch(value) or not 1 <= int(value) <= LARGEST_SIZE:
        raise InvalidLabel(key, value, f"a whole number from 1 to {LARGEST_SIZE}")
    return int(value)


def _walltime(key: str, value: str) -> int:
    try:
        return walltimes.parse_walltime(value)
    except ValueError:
        raise InvalidLabel(key, value, walltimes.EXPECTED) from None


def _flag(key: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise InvalidLabel(key, value, '"true" or "false"')
    return value.lower() == "true"


def _incomplete(key: str, value: str) -> str:
    if value not in INCOMPLETE_ACTIONS:
        raise InvalidLabel(key, value, " or ".join(f'"{each}"' for each in INCOMPLETE_ACTIONS))
    return value


def _priority(key: str, value: str) -> int:
    if not _PRIORITY.fullmatch(value) or abs(int(value)) > LARGEST_PRIORITY:
        raise InvalidLabel(
            key, value, f"a whole number from -{LARGEST_PRIORITY} to {LARGEST_PRIORITY}"
        )
    return int(value)


def _moment(key: str, value: str) -> int:
    try:
        if _MOMENT.fullmatch(value):
            return ceil(datetime.fromisoformat(value.upper()).timestamp())
    except (ValueError, OverflowError):
        pass  # such as the 30th of February
    raise InvalidLabel(key, value, "a time with its zone (RFC 3339), such as 2027-01-31T08:00:00Z")


def _after(values: _Values) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for key in names.DEPENDENCIES:
        kind = key.removeprefix(names.PREFIX)
        found += ((kind, reference) for reference in values.read(key, _references) or ())
    return tuple(found)


def _references(key: str, value: str) -> tuple[str, ...]:
    references = tuple(dict.fromkeys(part.strip() for part in value.split(",")))
    if len(references) > MOST_REFERENCES or not all(map(_REFERENCE.fullmatch, references)):
        expected = f"kind/name, such as job/train, or up to {MOST_REFERENCES} of them with commas"
        raise InvalidLabel(key, value, expected)
    return references
