"""Channel options, TLS credentials and metadata of a connection to a server."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

DEFAULT_ADDRESS = "127.0.0.1:4242"

_LARGEST = 1 << 30
"""Maximum size of a message in bytes, the same as the server's."""
OPTIONS = (
    ("grpc.max_receive_message_length", _LARGEST),
    ("grpc.max_send_message_length", _LARGEST),
    # Detects a server that vanished without closing the connection, also on idle streams.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # Reconnect within seconds after a restart; gRPC's default delays grow to minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)
_COMPRESSION = ("fluxnetes-accept-encoding", "gzip")
"""Metadata by which the server knows that this client reads compressed answers."""


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """The token and certificates of a client, and the authority it trusts."""

    token: str = ""
    authority: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("`certificate` and `key` must be given together")
        if self.certificate is not None and self.authority is None:
            raise ValueError("`certificate` needs TLS: give the server's `authority`, too")

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of every call."""
        if not self.token:
            return (_COMPRESSION,)
        return _COMPRESSION, ("authorization", f"Bearer {self.token}")

    @property
    def tls(self) -> grpc.ChannelCredentials | None:
        """The credentials of a TLS channel; None: plain text."""
        if self.authority is None:
            return None
        return grpc.ssl_channel_credentials(self.authority, self.key, self.certificate)
