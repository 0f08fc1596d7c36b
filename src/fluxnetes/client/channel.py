"""The connection to a server: how it is made, and how it is noticed that it is gone."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

DEFAULT_ADDRESS = "127.0.0.1:4242"

_LARGEST = 1 << 30
OPTIONS = (
    ("grpc.max_receive_message_length", _LARGEST),
    ("grpc.max_send_message_length", _LARGEST),
    # A server that is gone without a word is found out, also by whoever only listens.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # A server that was restarted is found again within seconds; gRPC's own pauses grow to minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)
_COMPRESSION = ("fluxnetes-accept-encoding", "gzip")
"""Large answers may be compressed."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a client shows, and whom it trusts."""

    token: str = ""
    authority: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("a certificate and its key belong together")
        if self.certificate is not None and self.authority is None:
            raise ValueError(
                "a certificate is shown only with TLS: say by `authority` whom to trust"
            )

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes with every call."""
        if not self.token:
            return (_COMPRESSION,)
        return _COMPRESSION, ("authorization", f"Bearer {self.token}")

    @property
    def credentials(self) -> grpc.ChannelCredentials | None:
        """None: plain text."""
        if self.authority is None:
            return None
        return grpc.ssl_channel_credentials(self.authority, self.key, self.certificate)
