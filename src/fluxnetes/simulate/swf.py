"""Reads traces in the Standard Workload Format: a line for each job, of 18 numbers; -1: not known.

    ; MaxProcs: 128                  a comment; before the first job, a `Key: value` of the header
    1 0 -1 1451 128 -1 -1 128 3600 -1 1 7 2 -1 1 -1 -1 -1

How a job is read:

- Its size is the number of allocated processors, else of requested ones.
- Its walltime is the requested time. Where there is none, it is the run time times `overestimate`,
  rounded up, and at least 1 second.
- Its run time may be 0: it ends when it starts. One that is less than 0 is not known, and the job
  is skipped, as is one without size or submit time.
- A line of status 2, 3 or 4 describes a part of a job that was checkpointed or swapped out. The
  job has a line of its own besides, so that such a line is no job and is not counted.

The text is read line by line and may be compressed with gzip, whatever its name. Only the fields
that are used are checked.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from fluxnetes.simulate.errors import SimulationError, TraceError
from fluxnetes.simulate.workload import (
    LONGEST,
    SkippedJob,
    Workload,
    WorkloadJob,
    check_overestimate,
    estimated_walltime,
    gather,
)

LARGEST = 2**53
"""Maximum of a number; larger ones are errors, and would not be exact as doubles."""
_MAX_DIGITS = 15
"""Maximum digits of a number in the header."""

_FIELDS = 18
_GZIP_MAGIC = b"\x1f\x8b"
_PARTS_OF_JOBS = frozenset((b"2", b"3", b"4"))


class _Field(IntEnum):
    """The positions of the fields that are used."""

    NUMBER = 0
    SUBMIT = 1
    RUN_TIME = 3
    ALLOCATED_PROCESSORS = 4
    REQUESTED_PROCESSORS = 7
    REQUESTED_TIME = 8
    STATUS = 10
    USER = 11
    GROUP = 12


_TIMES = (_Field.SUBMIT, _Field.RUN_TIME, _Field.REQUESTED_TIME)


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """The size of the machine on which a trace was recorded; None where it is not known."""

    nodes: int | None = None
    processors: int | None = None


def read_swf(path: Path, processors: int, *, overestimate: float = 1.0) -> Workload:
    """The jobs of a trace that fit on a cluster of this size."""
    check_overestimate(overestimate)
    return gather(path.name, parse_jobs(path.name, _lines(path), overestimate), processors)


def read_header(path: Path) -> TraceHeader:
    """Read the comments before the first job."""
    found: dict[bytes, int] = {}
    for line in _lines(path):
        text = line.strip()
        if text and not text.startswith(b";"):
            break
        key, _, value = text.lstrip(b"; \t").partition(b":")
        if value.strip().isdigit() and len(value.strip()) <= _MAX_DIGITS:
            found.setdefault(key.strip().lower(), int(value))
    return TraceHeader(found.get(b"maxnodes"), found.get(b"maxprocs"))


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            compressed = stream.read(2) == _GZIP_MAGIC
        with gzip.open(path, "rb") if compressed else path.open("rb") as text:
            yield from text
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SimulationError(f"{path} is not a whole gzip file: {error}") from None
    except OSError as error:
        raise SimulationError(f"can't read the trace {path}: {error.strerror}") from None


def parse_jobs(
    name: str, lines: Iterable[bytes], overestimate: float = 1.0
) -> Iterator[WorkloadJob | SkippedJob]:
    """The jobs of a trace in its order, with a reason in place of each that cannot be run."""
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields or fields[0].startswith(b";"):
            continue
        if len(fields) != _FIELDS:
            found = f"{len(fields)} field{'s' * (len(fields) != 1)}"
            raise TraceError(name, number, found, f"the {_FIELDS} of a job, or a comment (;)")
        if fields[_Field.STATUS] in _PARTS_OF_JOBS:
            continue
        try:
            yield _job(fields, overestimate)
        except (ValueError, OverflowError):
            wrong = next(field for field in _Field if not _is_number(fields, field))
            raise TraceError(name, number, *_complaint(fields[wrong], wrong)) from None


def _job(fields: list[bytes], overestimate: float) -> WorkloadJob | SkippedJob:
    submit = _number(fields[_Field.SUBMIT], LONGEST)
    runtime = _number(fields[_Field.RUN_TIME], LONGEST)
    size = _number(fields[_Field.ALLOCATED_PROCESSORS])
    if size <= 0:
        size = _number(fields[_Field.REQUESTED_PROCESSORS])
    walltime = _number(fields[_Field.REQUESTED_TIME], LONGEST)
    if walltime <= 0:
        walltime = estimated_walltime(runtime, overestimate)
    if submit < 0:
        return SkippedJob.NO_SUBMIT_TIME
    if runtime < 0:
        return SkippedJob.NO_RUN_TIME
    if size <= 0:
        return SkippedJob.NO_SIZE
    number, user, group = (_number(fields[f]) for f in (_Field.NUMBER, _Field.USER, _Field.GROUP))
    return WorkloadJob(number, submit, runtime, walltime, size, user, group)


def _number(field: bytes, most: int = LARGEST) -> int:
    """A whole number; some traces write it as 12.0, and some times have fractions."""
    try:
        value = int(field)
    except ValueError:
        value = round(float(field))
    if abs(value) > most:
        raise OverflowError
    return value


def _is_number(fields: list[bytes], field: _Field) -> bool:
    try:
        _number(fields[field], LONGEST if field in _TIMES else LARGEST)
    except (ValueError, OverflowError):
        return False
    return True


def _complaint(text: bytes, field: _Field) -> tuple[str, str]:
    shown = text.decode("latin-1")
    shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
    what = field.name.lower().replace("_", " ")
    most = f" of at most {LONGEST if field in _TIMES else LARGEST}" * _is_float(text)
    return f"{shown!r}", f"a number{most} (field {field + 1}, the {what}; -1: not known)"


def _is_float(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
