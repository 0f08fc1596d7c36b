"""Controls when a scheduler may act: detects that it is ready, and pauses the API server.

The API server is paused with SIGSTOP. The kernel still accepts connections, but no request is
answered until the server is resumed. So a scheduler can be started before the clock starts,
whatever it does first, and none can see or do anything early.
"""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from bench.kube_costs import costs
from fluxnetes.plane.api import PlaneApi
from fluxnetes.plane.components import API_SERVER
from fluxnetes.plane.plane import ControlPlane

_QUIET = 0.5
_NEXT_TO_NOTHING = 0.03
_ESTABLISHED = "01"
_WATCHES = re.compile(r"^apiserver_longrunning_requests\{(.*)\} (\d+)$", re.MULTILINE)
_OF_PODS = 'resource="pods"'


def is_quiet(pid: int) -> bool:
    """Whether a process and its children do nothing for a while."""
    before = costs(pid).cpu
    time.sleep(_QUIET)
    return costs(pid).cpu - before <= _NEXT_TO_NOTHING


def pod_watchers(api: PlaneApi) -> int:
    """How many watches of pods the server has: every scheduler has one."""
    metrics = str(api.get("/metrics")["text"])
    return sum(int(value) for labels, value in _WATCHES.findall(metrics) if _OF_PODS in labels)


class PausedServer:
    """The API server, paused for as long as this is entered."""

    resumed = 0.0
    """When it was resumed, by the clock that the API server uses."""

    def __init__(self, plane: ControlPlane) -> None:
        self._server = plane.processes[API_SERVER].pid
        self._port = urlsplit(plane.server).port or 0
        self._before = 0

    def __enter__(self) -> Self:
        self._before = self._connections()
        os.kill(self._server, signal.SIGSTOP)
        return self

    def __exit__(self, *_: object) -> None:
        self.resumed = time.time()
        os.kill(self._server, signal.SIGCONT)

    def has_new_connections(self) -> bool:
        """Whether a client has connected since the server was paused."""
        return self._connections() > self._before

    def _connections(self) -> int:
        """How many there are, counted at the client end."""
        _, *lines = Path("/proc/net/tcp").read_text().splitlines()
        ends = ((line.split()[2], line.split()[3]) for line in lines)
        return sum(
            state == _ESTABLISHED and int(remote.rpartition(":")[2], 16) == self._port
            for remote, state in ends
        )
