"""Health checks: whether a component serves its health endpoint with success."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from pathlib import Path

from fluxnetes.plane.paths import LOOPBACK

_TIMEOUT = 5.0
"""Maximum seconds for a health check."""


def is_healthy(port: int, authority: Path | None = None) -> bool:
    """Whether a program on loopback is healthy; over TLS if an authority is given."""
    if authority is None:
        return _returns_ok(http.client.HTTPConnection(LOOPBACK, port, timeout=_TIMEOUT))
    trust = ssl.create_default_context(cafile=authority)
    secured = http.client.HTTPSConnection(LOOPBACK, port, context=trust, timeout=_TIMEOUT)
    return _returns_ok(secured)


def etcd_is_ready(path: Path) -> bool:
    """Whether etcd is healthy, through the open folder: the socket's path may be too long."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    connection = http.client.HTTPConnection("etcd", timeout=_TIMEOUT)
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.settimeout(_TIMEOUT)
        connection.sock.connect(f"/proc/self/fd/{folder}/{path.name}")
        return _returns_ok(connection, "/health")
    except OSError:
        connection.close()
        return False
    finally:
        os.close(folder)


def _returns_ok(connection: http.client.HTTPConnection, path: str = "/healthz") -> bool:
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
