"""What scheduling costs: CPU and memory of a process and of all that it started, from /proc."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


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
