"""What scheduling costs: CPU and memory of processes, and writes to the API server.

Processes are read from /proc, each with all that it started. Writes are counted by the API server
itself (apiserver_request_total). It does not say who wrote; but besides the scheduler there is only
the one who creates the pods, and those writes are easy to tell.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.plane.api import Api

_TICKS = os.sysconf("SC_CLK_TCK")
_WRITES = frozenset(["POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"])
_CREATION = "POST pods"
_SERIES = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_WATCHERS = re.compile(r"^apiserver_longrunning_requests\{(.*)\} (\S+)$", re.MULTILINE)

Writes = Counter[str]
"""How often what was written: `POST pods/binding`."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Of a process and all that it started."""

    cpu: float
    """Seconds."""
    memory: float
    """MB: the most that it ever held, and what its children add to that now."""

    def since(self, before: Costs) -> Costs:
        """CPU since then; memory is a peak, of which nothing can be taken away."""
        return Costs(self.cpu - before.cpu, self.memory)


NOTHING = Costs(0.0, 0.0)


def costs(pid: int) -> Costs:
    first, *others = _family(pid)
    memory = _number(f"/proc/{first}/status", "VmHWM")
    # Postgres is many processes with much memory in common; each one's share adds up.
    memory += sum(_number(f"/proc/{each}/smaps_rollup", "Pss") for each in others)
    return Costs(sum(map(_cpu, (first, *others))), memory / 1024)


def _family(pid: int) -> Iterator[int]:
    children = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        if stat := _stat(int(folder.name)):
            children[int(stat[1])].append(int(folder.name))
    found = [pid]
    for each in found:  # grows meanwhile
        found += children[each]
    yield from found


def _cpu(pid: int) -> float:
    """Of itself, and of children that have ended."""
    return sum(map(int, _stat(pid)[11:15])) / _TICKS


def _stat(pid: int) -> list[str]:
    """What follows the name, which may have blanks in it; nothing if it just ended."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _number(file: str, key: str) -> int:
    found = re.search(rf"^{key}:\s+(\d+)", _read(file), re.MULTILINE)
    return int(found[1]) if found else 0


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError:
        return ""


def writes(api: Api) -> Writes:
    """All so far, but for those that make pods, and leases, which are renewed by the clock."""
    counted: Writes = Counter()
    for label, value in _series(_SERIES, api):
        what = f"{label['verb']} " + "/".join(
            filter(None, (label["resource"], label["subresource"]))
        )
        if label["verb"] in _WRITES and label["resource"] != "leases" and what != _CREATION:
            counted[what] += value
    return counted


def pod_watchers(api: Api) -> int:
    """How many follow the pods: whoever schedules them does."""
    return sum(value for label, value in _series(_WATCHERS, api) if label["resource"] == "pods")


def _series(pattern: re.Pattern[str], api: Api) -> Iterator[tuple[dict[str, str], int]]:
    for labels, value in pattern.findall(str(api.get("/metrics")["text"])):
        yield dict(_LABEL.findall(labels)), int(float(value))
