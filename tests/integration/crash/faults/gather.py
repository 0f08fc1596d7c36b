"""Collects what a run left behind: the record, the store, the audit log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fluxnetes.plane.api import PlaneApi
from tests.integration.crash import record
from tests.integration.crash.faults.load import Kind, Piece
from tests.integration.crash.manifests import PODS
from tests.integration.crash.record import Pod, Seen
from tests.integration.crash.truth.contradictions import Findings, Watched
from tests.integration.crash.truth.history import Line
from tests.integration.crash.truth.said import StoredJob
from tests.integration.crash.truth.workloads import divide
from tests.integration.crash.truth.writers import pods_deleted_by_users, read_log
from tests.integration.store.servers import fetch

_ROWS = (
    "SELECT jobs.id, workload, state, coalesce(reason_code, '') AS code, "
    "coalesce(reason, '') AS reason "
    "FROM jobs JOIN submissions USING (id) WHERE workload <> '' ORDER BY jobs.id"
)
_EVENTS = (
    "SELECT events.job, at, kind, coalesce(before, '') AS before, coalesce(after, '') AS after, "
    "coalesce(events.reason_code, '') AS code, coalesce(events.reason, '') AS reason, workload "
    "FROM events JOIN submissions ON submissions.id = events.job ORDER BY events.id"
)
_MARKER = "last-of-all"
_NOTHING = {"containers": [{"name": "main", "image": "none"}]}
_RECORDED_WITHIN = 60.0


@dataclass(slots=True)
class RecordTail:
    """The record, read as it grows."""

    path: Path
    seen: list[Seen] = field(default_factory=list)
    _read: int = 0
    _half: bytes = b""

    def read(self) -> list[Seen]:
        with self.path.open("rb") as lines:
            lines.seek(self._read)
            content = lines.read()
        self._read += len(content)
        *whole, self._half = (self._half + content).split(b"\n")
        self.seen += map(record.decode, whole)
        return self.seen

    def await_all(self, api: PlaneApi) -> None:
        """Until all is recorded that has happened so far: etcd tells changes in order."""
        last = {"metadata": {"name": _MARKER}, "spec": {**_NOTHING, "schedulerName": "none"}}
        api.create(PODS, last)
        deadline = time.monotonic() + _RECORDED_WITHIN
        while not any(isinstance(e.thing, Pod) and e.thing.name == _MARKER for e in self.read()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the recorder is more than {_RECORDED_WITHIN:.0f} s behind")
            time.sleep(0.1)


def watched(pieces: Iterable[Piece]) -> dict[str, Watched]:
    """The pieces that are ours."""
    return {
        each.name: Watched(each.name, each.is_job, each.kind is Kind.SINGLE, each.after)
        for each in pieces
        if each.is_ours
    }


def findings(pieces: Iterable[Piece], seen: Iterable[Seen], dsn: str, audit: Path) -> Findings:
    """What is known now."""
    ours = watched(pieces)
    records = divide(seen, {name: each.is_job for name, each in ours.items()})
    deleted = pods_deleted_by_users(read_log(audit))
    return Findings(ours, records, _rows(dsn), deleted)


def _rows(dsn: str) -> tuple[StoredJob, ...]:
    found = asyncio.run(fetch(dsn, _ROWS))
    return tuple(StoredJob(*(row[name] for name in _COLUMNS)) for row in found)


_COLUMNS = ("id", "workload", "state", "code", "reason")


def stored_events(dsn: str) -> dict[str, tuple[Line, ...]]:
    """What the store tells of each workload's jobs, in whole seconds since the epoch."""
    found: dict[str, list[Line]] = {}
    for row in asyncio.run(fetch(dsn, _EVENTS)):
        name = ([*row["workload"].split("/"), "", "", ""])[2]
        change = f"{row['before']} -> {row['after']}" if row["after"] else row["kind"]
        text = f"  store: job {row['job']} {change} ({row['code']}: {row['reason']})"
        found.setdefault(name, []).append(Line(float(row["at"]), text))
    return {name: tuple(lines) for name, lines in found.items()}
