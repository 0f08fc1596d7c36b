"""Builds the method handlers of a gRPC server from a service's descriptor.

A service is an object with a method for each call of its descriptor, in snake case. A ServiceError
of such a method becomes a gRPC error with details; any other exception is a bug of the server, is
logged, and fails only that call.
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
from fluxnetes.rpc.validation import invalid_text
from fluxnetes.service.errors import Invalid, ServiceError

_log = logging.getLogger("fluxnetes.rpc")

Context = ServicerContext[Any, Any]

_COMPRESS_FROM = 256 << 10
"""Minimum bytes of an answer to compress: a smaller one is sent faster than it is compressed."""
_ACCEPTS_GZIP = ("fluxnetes-accept-encoding", "gzip")
"""Metadata of a client that reads compressed answers. gRPC has a header for that, but does not show
it to servers, and would compress for clients that cannot read it, such as those in Go."""
_COMPRESSED = (("grpc-internal-encoding-request", "gzip"),)
"""Initial metadata that makes gRPC compress the answer; `set_compression` of grpc.aio takes effect
too late."""
_GRANTING = frozenset({"Match"})
"""Calls that allocate something, which is withdrawn if the answer cannot be sent."""


class GrpcService(Protocol):
    """A service that a server can have."""

    name: str
    """Its full name on the wire."""
    service: ServiceDescriptor
    bulk: frozenset[str]
    """Its methods whose messages hold graphs, and may be large: see `receiving`."""


def handler_of(service: GrpcService) -> grpc.GenericRpcHandler:
    """The handler of all calls of a service."""
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
        return grpc.unary_stream_rpc_method_handler(_granted(serve, path), read, _write)
    return grpc.unary_unary_rpc_method_handler(_answered(serve, path), read, _write)


def _reader(message: type[Message]) -> Callable[[bytes], Message | Invalid]:
    """The deserializer of requests; one that cannot be read becomes the error to answer with."""
    parse = message.FromString

    def read(data: bytes) -> Message | Invalid:
        try:
            request = parse(data)
        except DecodeError as error:
            return Invalid(f"expected a {message.DESCRIPTOR.name}, found other bytes: {error}")
        return invalid_text(request) or request

    return read


def _write(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


def _answered(serve: Callable[[Any, GrpcCall], Awaitable[Any]], path: str) -> Any:
    async def answer(request: Any, context: Context) -> Any:
        return await _serve(serve, path, request, GrpcCall(context), context)

    return answer


def _granted(serve: Callable[[Any, GrpcCall], Awaitable[Any]], path: str) -> Any:
    """Answers whose grant is withdrawn if they could not be sent.

    On the wire one message and a stream of one message are the same, but only for a stream does
    gRPC report that a message could not be sent.
    """

    async def answer(request: Any, context: Context) -> None:
        call = GrpcCall(context)
        message = await _serve(serve, path, request, call, context)
        try:
            await context.write(message)
            await asyncio.sleep(0)  # the cancellation of a client that left arrives here, or never
        except (asyncio.CancelledError, grpc.aio.InternalError):
            call.withdraw()
            raise asyncio.CancelledError from None

    return answer


def _metadata_of(context: Context) -> list[tuple[str, Any]]:
    """The metadata that the client sent."""
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
        if message.ByteSize() > _COMPRESS_FROM and _ACCEPTS_GZIP in _metadata_of(context):
            await context.send_initial_metadata(_COMPRESSED)
        return message
    except ServiceError as error:
        await _refuse(context, error)
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
        except ServiceError as error:
            await _refuse(context, error)
        except (asyncio.CancelledError, grpc.aio.AbortError):
            raise
        except Exception:
            await _fail(context, path)

    return stream


async def _refuse(context: Context, error: ServiceError) -> None:
    _, code = code_of(error)
    await context.abort(code, text_of(error), details_of(error))


async def _fail(context: Context, path: str) -> None:
    _log.exception("%s failed", path)
    await context.abort(grpc.StatusCode.INTERNAL, "internal error of the server; see its log")
