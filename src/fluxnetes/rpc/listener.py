"""The options of a listener: address, dialects, TLS and tokens."""

from __future__ import annotations

import ipaddress
import logging
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.rpc.credentials import CertificateFiles, OwnCertificates
from fluxnetes.rpc.dialects.choice import DEFAULT_DIALECTS, check_dialects
from fluxnetes.rpc.guard import TokenGuard
from fluxnetes.rpc.server import ServerSettings
from fluxnetes.store.embedded.paths import default_folder

_log = logging.getLogger("fluxnetes.rpc")

NO_DIALECT = "none"
"""In place of a dialect's name: serve only `fluxnetes.v1`."""


@dataclass(frozen=True, slots=True)
class ListenerOptions:
    """The options of the command line."""

    host: str
    port: int
    dialects: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    client_ca: Path | None = None
    tls_name: tuple[str, ...] = ()
    plaintext: bool = False
    token_file: Path | None = None
    max_message: int = 1024
    """MiB."""

    @property
    def spoken(self) -> list[str]:
        """The dialects to serve. ValueError if they cannot be served together."""
        chosen = [name for name in self.dialects or DEFAULT_DIALECTS if name != NO_DIALECT]
        check_dialects(chosen)
        return chosen

    def settings(self) -> ServerSettings:
        """The settings of a server. ValueError if the options contradict each other."""
        host = self.host.strip("[]")
        address = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        guard = None if self.token_file is None else TokenGuard(self.token_file)
        if guard is None and self.client_ca is None and not is_loopback(host):
            _log.warning(
                "every client that can reach %s may use and cancel everything; see --token-file",
                address,
            )
        return ServerSettings(address, self._credentials(host), guard, self.max_message << 20)

    def _credentials(self, host: str) -> CertificateFiles | None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key must be given together")
        if self.tls_cert is not None and self.tls_key is not None:
            return CertificateFiles(self.tls_cert, self.tls_key, self.client_ca)
        if self.plaintext or (is_loopback(host) and self.client_ca is None):
            return None
        own = OwnCertificates(default_folder() / "service", self.tls_name)
        _log.info("clients verify this server with the authority in %s", own.authority)
        return own.files(self.client_ca)


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_address(text: str) -> tuple[str, int]:
    """
    >>> read_address("0.0.0.0:4242"), read_address("[::1]:7")
    (('0.0.0.0', 4242), ('[::1]', 7))
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"found {text!r}, expected HOST:PORT, such as 127.0.0.1:4242")
    return host, int(port)
