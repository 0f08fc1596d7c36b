"""From a service's description to what a gRPC server calls.

A service is an object with a method for each of the calls that its description lists, in lower case
with underscores. Whatever such a method refuses becomes an error with details; whatever else goes
wrong in it is our fault, is logged, and takes nobody down.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from grpc.aio import ServicerContext

from fluxnetes.rpc.call import GrpcCall
from fluxnetes.rpc.grpc_status import code_of, details_of, text_of
from fluxnetes.service.errors import Invalid, ServiceError

_log = logging.getLogger("fluxnetes.rpc")

Context = ServicerContext[Any, Any]

_WORTH_COMPRESSING = 256 << 10
"""Bytes. What is smaller is sent sooner than it is compressed."""
_ASKED_FOR = ("fluxnetes-accept-encoding", "gzip")
"""What a client says that can read compressed answers. gRPC knows it by a header of its own, but
does not tell us, and compresses for those who cannot read it all the same; Go clients cannot."""
_COMPRESSED = (("grpc-internal-encoding-request", "gzip"),)
"""Tells gRPC to compress what it sends; `set_compression` of grpc.aio comes too late to do
anything."""
_GRANTING = frozenset({"Match"})
"""Calls that give something away; if nobody hears of it, it is taken back."""


class GrpcService(Protocol):
    """What can be served."""

    name: str
    """On the wire."""
    service: ServiceDescriptor


def handler_of(service: GrpcService) -> grpc.GenericRpcHandler:
    """All calls of a service."""
    methods = {each.name: _method(service, each) for each in service.service.methods}
    return grpc.method_handlers_generic_handler(service.name, methods)


def snake(name: str) -> str:
    """
    >>> snake("GetResources")
    'get_resources'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _method(service: GrpcService, described: MethodDescriptor) -> grpc.RpcMethodHandler[Any, Any]:
    serve = getattr(service, snake(described.name))
    read = _reader(GetMessageClass(described.input_type))
    path = f"/{service.name}/{described.name}"
    if described.server_streaming:
        return grpc.unary_stream_rpc_method_handler(_streamed(serve, path), read, _write)
    if described.name in _GRANTING:
        return grpc.unary_stream_rpc_method_handler(_heard(serve, path), read, _write)
    return grpc.unary_unary_rpc_method_handler(_answered(serve, path), read, _write)


def _reader(message: type[Message]) -> Callable[[bytes], Message | Invalid]:
    """What reads a request; one that cannot be read becomes the refusal of it."""
    parse = message.FromString

    def read(data: bytes) -> Message | Invalid:
        try:
            return parse(data)
        except DecodeError as error:
            return Invalid(f"expected a {message.DESCRIPTOR.name}, found other bytes: {error}")

    return read


def _write(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


def _answered(serve: Callable[[Any, GrpcCall], Awaitable[Any]], path: str) -> Any:
    async def answer(request: Any, context: Context) -> Any:
        return await _serve(serve, path, request, GrpcCall(context), context)

    return answer


def _heard(serve: Callable[[Any, GrpcCall], Awaitable[Any]], path: str) -> Any:
    """Answers of which it matters whether they were sent.

    On the wire one message and a stream of one message are the same, but only of a stream are we
    told that a message could not be sent.
    """

    async def answer(request: Any, context: Context) -> None:
        call = GrpcCall(context)
        message = await _serve(serve, path, request, call, context)
        try:
            await context.write(message)
            await asyncio.sleep(0)  # whoever left meanwhile is found out now or never
        except (asyncio.CancelledError, grpc.aio.InternalError):
            call.take_back()
            raise asyncio.CancelledError from None

    return answer


def _said(context: Context) -> list[tuple[str, Any]]:
    """What the client said beside its request."""
    return [(key, value) for key, value in context.invocation_metadata() or ()]


async def _serve(
    serve: Callable[[Any, GrpcCall], Awaitable[Any]],
    path: str,
    request: Any,
    call: GrpcCall,
    context: Context,
) -> Any:
    try:
        if isinstance(request, Invalid):
            raise request
        message = await serve(request, call)
        if message.ByteSize() > _WORTH_COMPRESSING and _ASKED_FOR in _said(context):
            await context.send_initial_metadata(_COMPRESSED)
        return message
    except ServiceError as refusal:
        await _refuse(context, refusal)
    except (asyncio.CancelledError, grpc.aio.AbortError):
        raise
    except Exception:
        await _fail(context, path)


def _streamed(serve: Callable[[Any, GrpcCall], AsyncIterator[Any]], path: str) -> Any:
    async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
        try:
            if isinstance(request, Invalid):
                raise request
            async for message in serve(request, GrpcCall(context)):
                yield message
        except ServiceError as refusal:
            await _refuse(context, refusal)
        except (asyncio.CancelledError, grpc.aio.AbortError):
            raise
        except Exception:
            await _fail(context, path)

    return stream


async def _refuse(context: Context, refusal: ServiceError) -> None:
    _, code = code_of(refusal)
    await context.abort(code, text_of(refusal), details_of(refusal))


async def _fail(context: Context, path: str) -> None:
    _log.exception("%s failed", path)
    await context.abort(grpc.StatusCode.INTERNAL, "an error of ours; the server's log says more")
