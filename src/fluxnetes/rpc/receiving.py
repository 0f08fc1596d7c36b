"""Receives the messages of callers: after authentication, a few at a time, within limits.

gRPC reads a message before it calls a handler of one message, and a message may have a gigabyte.
So every method is served as a stream, which on the wire is the same; of a stream gRPC buffers no
more than a window of some 64 KiB until the handler reads:

    headers ──▶ guard: token? ──▶ wait for a slot ──▶ read ──▶ method's limit? ──▶ parse, serve

- Without a token nothing is read. Health checks need none: there the message stays unread too, and
  the answer is the health of the whole server, which every service has.
- A slot is held while a message is read and parsed, so all callers together take no more memory
  than the slots times the largest message. A caller can hold only a part of the slots, and a
  message that does not arrive loses its slot as soon as others wait: callers that send slowly, or
  stop in the middle, do not keep others from being read.
- Methods with graphs (`GrpcService.bulk`) have slots of their own, which they hold until they are
  answered, because the graph is in memory for so long. All other messages are small.
- Streams of requests (reflection) have slots of their own, too: between two of its messages a
  caller holds one.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import DecodeError
from grpc import HandlerCallDetails, RpcMethodHandler
from grpc.aio import EOF, ServicerContext

from fluxnetes.rpc.callers import current_caller, is_authenticated
from fluxnetes.rpc.grpc_status import code_of, details_of, text_of
from fluxnetes.service.errors import Invalid

Handler: TypeAlias = "RpcMethodHandler[Any, Any]"
Context: TypeAlias = "ServicerContext[Any, Any]"

SMALL = 8 << 20
"""Maximum bytes of a message without a graph: twice those of the largest jobspec."""
_CALLS = 4
"""Calls that may be read at the same time; more wait. A small message is read in a millisecond."""
_BULK_CALLS = 2
"""Calls with a graph that may be read or served at the same time."""
_TIMEOUT = 10.0
"""Seconds in which a small message must arrive once it is being read."""
_BULK_TIMEOUT = 120.0
"""The same for a graph: a gigabyte at 9 MB/s."""
_PATIENCE = 0.5
"""The same for a small message while other calls wait for its slot."""
_BULK_PATIENCE = 10.0
"""The same for a graph."""


class SlotPool:
    """Slots for calls, of which one caller can hold at most half.

    A read that lasts longer than `patience` seconds ends with TimeoutError as soon as a call waits
    for its slot.
    """

    def __init__(self, slots: int, patience: float) -> None:
        self._slots = _Slots(asyncio.Semaphore(slots))
        self._share = max(1, slots // 2)
        self._patience = patience
        self._callers: dict[str, _Slots] = {}
        self._reads: dict[asyncio.Timeout, tuple[float, _Slots]] = {}
        """When each read began, and whose slots it uses, by its timeout; the oldest is first."""
        self._eviction: asyncio.TimerHandle | None = None

    async def take(self, caller: str) -> None:
        """Wait for a slot. Every one must be released."""
        own = self._callers.get(caller)
        if own is None:
            own = self._callers[caller] = _Slots(asyncio.Semaphore(self._share))
        own.calls += 1
        try:
            await self._acquire(own)
            try:
                await self._acquire(self._slots)
            except BaseException:
                own.free.release()
                raise
        except BaseException:
            self._leave(caller, own)
            raise

    async def _acquire(self, slots: _Slots) -> None:
        if not slots.free.locked():
            await slots.free.acquire()
            return
        slots.waiting += 1
        self._plan_eviction()
        try:
            await slots.free.acquire()
        finally:
            slots.waiting -= 1

    def release(self, caller: str) -> None:
        own = self._callers[caller]
        self._slots.free.release()
        own.free.release()
        self._leave(caller, own)

    def _leave(self, caller: str, own: _Slots) -> None:
        own.calls -= 1
        if not own.calls:
            del self._callers[caller]

    # -- reads that last -----------------------------------------------------------------------

    async def read(self, context: Context, caller: str, timeout: float) -> Any:
        """The next message of a call that has a slot. Raises TimeoutError."""
        own = self._callers[caller]
        async with asyncio.timeout(timeout) as limit:
            self._reads[limit] = asyncio.get_running_loop().time(), own
            if self._slots.waiting or own.waiting:
                self._plan_eviction()
            try:
                return await context.read()
            finally:
                del self._reads[limit]

    def _plan_eviction(self) -> None:
        """Have the oldest read looked at when its patience ends."""
        if self._eviction is None and self._reads:
            began, _ = next(iter(self._reads.values()))
            loop = asyncio.get_running_loop()
            due = max(began, loop.time() - self._patience / 2) + self._patience
            self._eviction = loop.call_at(due, self._end_patience)

    def _end_patience(self) -> None:
        # Later: if the loop was busy for long, messages that are here must be taken in before.
        asyncio.get_running_loop().call_soon(self._evict)

    def _evict(self) -> None:
        """End reads that last while others wait for their slots."""
        self._eviction = None
        now = asyncio.get_running_loop().time()
        for limit, (began, own) in self._reads.items():
            has_waiting = bool(self._slots.waiting or own.waiting)
            is_over = (limit.when() or 0.0) <= now
            if has_waiting and not is_over and now - began >= self._patience:
                limit.reschedule(now)
        if self._slots.waiting or any(own.waiting for own in self._callers.values()):
            self._plan_eviction()


@dataclass(slots=True)
class _Slots:
    free: asyncio.Semaphore
    calls: int = 0
    """Calls that hold or wait for one."""
    waiting: int = 0
    """Calls that wait for one."""


@dataclass(frozen=True, slots=True)
class ReceiveLimits:
    """How the messages of some methods are received."""

    slots: SlotPool
    largest: int
    """Maximum bytes of a message."""
    timeout: float
    until_answered: bool = False
    """Whether a slot is held until the call is answered, not only while its message is read."""


class MessageReceiver(grpc.aio.ServerInterceptor):
    """Has the messages of all methods received as the module's docstring says."""

    def __init__(self, largest: int, bulk: Iterable[str] = ()) -> None:
        """`bulk` are the methods with graphs, as `/service/Method`; `largest` is their limit."""
        calls, streams = SlotPool(_CALLS, _PATIENCE), SlotPool(_CALLS, _PATIENCE)
        self._small = ReceiveLimits(calls, min(SMALL, largest), _TIMEOUT)
        bulk_slots = SlotPool(_BULK_CALLS, _BULK_PATIENCE)
        self._bulk = ReceiveLimits(bulk_slots, largest, _BULK_TIMEOUT, until_answered=True)
        self._streams = ReceiveLimits(streams, min(SMALL, largest), _BULK_TIMEOUT)
        self._bulk_methods = frozenset(bulk)
        self._handlers: dict[str, Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: HandlerCallDetails,
    ) -> Handler | None:
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        path = handler_call_details.method
        known = self._handlers.get(path)
        if known is None:
            limits = self._limits_of(handler, path)
            known = self._handlers[path] = _MethodReceiver(handler, limits, path).handler()
        return known

    def _limits_of(self, handler: Handler, path: str) -> ReceiveLimits:
        if handler.request_streaming:
            return self._streams
        return self._bulk if path in self._bulk_methods else self._small


class _MethodReceiver:
    """Receives the messages of one method, and passes them to its handler."""

    def __init__(self, handler: Handler, limits: ReceiveLimits, path: str) -> None:
        self._handler: Any = handler
        self._limits = limits
        self._path = path

    def handler(self) -> Handler:
        """The handler of a stream that does the same as the given one."""
        given = self._handler
        write = given.response_serializer
        if given.request_streaming:
            return grpc.stream_stream_rpc_method_handler(self._many, response_serializer=write)
        if not given.response_streaming:
            return grpc.stream_unary_rpc_method_handler(self._one, response_serializer=write)
        is_writer = inspect.iscoroutinefunction(given.unary_stream)
        serve: Any = self._written if is_writer else self._streamed
        return grpc.stream_stream_rpc_method_handler(serve, response_serializer=write)

    # -- the kinds of handlers -----------------------------------------------------------------

    async def _one(self, unread: object, context: Context) -> Any:
        request = await self._receive(context)
        try:
            return await self._handler.unary_unary(request, context)
        finally:
            self._answered(context)

    async def _written(self, unread: object, context: Context) -> None:
        request = await self._receive(context)
        try:
            await self._handler.unary_stream(request, context)
        finally:
            self._answered(context)

    async def _streamed(self, unread: object, context: Context) -> AsyncIterator[Any]:
        request = await self._receive(context)
        try:
            async for message in self._handler.unary_stream(request, context):
                yield message
        finally:
            self._answered(context)

    async def _many(self, unread: object, context: Context) -> AsyncIterator[Any]:
        """Of all services only reflection has streams of requests."""
        async for message in self._handler.stream_stream(self._requests(context), context):
            yield message

    # -- requests ------------------------------------------------------------------------------

    async def _receive(self, context: Context) -> Any:
        """The only request of a call; `_answered` must follow."""
        if not is_authenticated():
            return self._handler.request_deserializer(b"")
        slots, caller = self._limits.slots, _caller_of(context)
        await slots.take(caller)
        keeps = False
        try:
            request = await self._read(context, caller)
            if request is EOF:
                await _refuse(context, Invalid("expected a message, found none"))
            keeps = self._limits.until_answered
            return request
        finally:
            if not keeps:
                slots.release(caller)

    def _answered(self, context: Context) -> None:
        """A call is over; its slot, if it still has one, is for another."""
        if self._limits.until_answered and is_authenticated():
            self._limits.slots.release(_caller_of(context))

    async def _requests(self, context: Context) -> AsyncIterator[Any]:
        """The requests of a stream."""
        slots, caller = self._limits.slots, _caller_of(context)
        while True:
            await slots.take(caller)
            try:
                request = await self._read(context, caller)
            finally:
                slots.release(caller)
            if request is EOF:
                return
            yield request

    async def _read(self, context: Context, caller: str) -> Any:
        """The next request; EOF: there are no more."""
        try:
            data = await self._limits.slots.read(context, caller, self._limits.timeout)
        except TimeoutError:
            await context.abort(
                grpc.StatusCode.DEADLINE_EXCEEDED, "the message did not arrive in time"
            )
        if data is EOF:
            return EOF
        if len(data) > self._limits.largest:
            size = len(data)
            del data  # the error's traceback would keep it until the call is over
            await _refuse(context, self._too_large(size))
        try:
            return self._handler.request_deserializer(data)
        except DecodeError as error:
            await _refuse(context, Invalid(f"the message cannot be read: {error}"))

    def _too_large(self, size: int) -> Invalid:
        method = self._path.rpartition("/")[2]
        return Invalid(
            f"found a message of {size} bytes, expected at most {self._limits.largest} for {method}"
        )


def _caller_of(context: Context) -> str:
    """Whose slots a call uses: those of the caller or, if it is unknown, of the connection."""
    return current_caller().name or context.peer()


async def _refuse(context: Context, error: Invalid) -> None:
    _, code = code_of(error)
    await context.abort(code, text_of(error), details_of(error))
