"""A process that uses the embedded server of a folder until it is asked to stop."""

from __future__ import annotations

import sys
from pathlib import Path

import tests.integration.store.quick  # noqa: F401 - for its effect
from fluxnetes.store.embedded.server import EmbeddedServer

server = EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
if sys.stdin.readline().strip() == "stop":
    server.stop()
