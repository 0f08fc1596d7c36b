"""Calls, and which of them are made again.

A call that was not answered may have been done all the same. To ask again is safe where asking
twice does what asking once does: where nothing is changed, where the change is to a state rather
than from one, and where the request has a number of its own by which the server knows it again
(`match` and `submit` always have one). All else is asked once.

Asked again is only what could not be reached; what was refused is refused.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from fluxnetes.client.errors import error_of

T = TypeVar("T", bound=Message)

SAFE = frozenset(
    {"Match", "Submit", "Renew", "Cancel", "Hold", "Release", "GetJob", "Explain", "Estimate"}
    | {"ListNodes", "GetStatus"}
)
"""The calls that are made again."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for a server, in seconds."""

    timeout: float = 30.0
    """For all tries of a call together."""
    first: float = 0.05
    """The first pause; each is twice the one before."""
    longest: float = 2.0


@dataclass(slots=True, eq=False)
class Caller:
    """Makes calls of one service on one channel."""

    channel: grpc.aio.Channel
    service: str
    patience: Patience
    metadata: tuple[tuple[str, str], ...] = ()

    async def call(self, method: str, request: Message, answer: type[T]) -> T:
        """The answer. Raises CallError."""
        try:
            return await self._try(method, request, answer)
        except grpc.aio.AioRpcError as failed:
            raise error_of(failed) from None

    async def _try(self, method: str, request: Message, answer: type[T]) -> T:
        pause = self.patience.first
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.patience.timeout
        while True:
            try:
                return await self._once(method, request, answer, deadline - loop.time())
            except grpc.aio.AioRpcError as failed:
                is_away = failed.code() is grpc.StatusCode.UNAVAILABLE
                if method not in SAFE or not is_away or loop.time() + pause > deadline:
                    raise
            # Many clients lost the same server, and should not all come back at once.
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - nothing secret
            pause = min(2 * pause, self.patience.longest)

    async def _once(self, method: str, request: Message, answer: type[T], left: float) -> T:
        made = self.channel.unary_unary(
            f"/{self.service}/{method}", type(request).SerializeToString, answer.FromString
        )
        found: T = await made(request, timeout=left, metadata=self.metadata)
        return found

    def stream(self, method: str, request: Message, answer: type[T]) -> Any:
        made = self.channel.unary_stream(
            f"/{self.service}/{method}", type(request).SerializeToString, answer.FromString
        )
        return made(request, metadata=self.metadata)
