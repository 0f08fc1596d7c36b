"""How to see that a program works: ask it for its health, where it serves it."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from pathlib import Path

from fluxnetes.plane.paths import LOOPBACK

_SLOWEST_ANSWER = 5.0


def is_well(port: int, authority: Path | None = None) -> bool:
    """Of a program that listens on loopback; with TLS if there is an authority to trust."""
    if authority is None:
        return _says_ok(http.client.HTTPConnection(LOOPBACK, port, timeout=_SLOWEST_ANSWER))
    trust = ssl.create_default_context(cafile=authority)
    secured = http.client.HTTPSConnection(LOOPBACK, port, context=trust, timeout=_SLOWEST_ANSWER)
    return _says_ok(secured)


def etcd_is_ready(path: Path) -> bool:
    """By way of the open folder: the socket's own path may be too long to connect to."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    connection = http.client.HTTPConnection("etcd", timeout=_SLOWEST_ANSWER)
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.settimeout(_SLOWEST_ANSWER)
        connection.sock.connect(f"/proc/self/fd/{folder}/{path.name}")
        return _says_ok(connection, "/health")
    except OSError:
        connection.close()
        return False
    finally:
        os.close(folder)


def _says_ok(connection: http.client.HTTPConnection, path: str = "/healthz") -> bool:
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
