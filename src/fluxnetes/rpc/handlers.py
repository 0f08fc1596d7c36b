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
from google.protobuf.message_factory import GetMessageClass
from grpc.aio import ServicerContext

from fluxnetes.rpc.calls import Call
from fluxnetes.rpc.refusals import Refusal
from fluxnetes.rpc.statuses import code_of, details_of, text_of

_log = logging.getLogger("fluxnetes.rpc")

Context = ServicerContext[Any, Any]


class Service(Protocol):
    """What can be served."""

    name: str
    """On the wire."""
    service: ServiceDescriptor


def handler_of(service: Service) -> grpc.GenericRpcHandler:
    """All calls of a service."""
    methods = {each.name: _method(service, each) for each in service.service.methods}
    return grpc.method_handlers_generic_handler(service.name, methods)


def snake(name: str) -> str:
    """
    >>> snake("GetResources")
    'get_resources'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _method(service: Service, described: MethodDescriptor) -> grpc.RpcMethodHandler[Any, Any]:
    serve = getattr(service, snake(described.name))
    read = GetMessageClass(described.input_type).FromString
    path = f"/{service.name}/{described.name}"
    if described.server_streaming:
        return grpc.unary_stream_rpc_method_handler(_streamed(serve, path), read, _write)
    return grpc.unary_unary_rpc_method_handler(_answered(serve, path), read, _write)


def _write(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


def _answered(serve: Callable[[Any, Call], Awaitable[Any]], path: str) -> Any:
    async def answer(request: Any, context: Context) -> Any:
        try:
            return await serve(request, Call(context))
        except Refusal as refusal:
            await _refuse(context, refusal)
        except (asyncio.CancelledError, grpc.aio.AbortError):
            raise
        except Exception:
            await _fail(context, path)

    return answer


def _streamed(serve: Callable[[Any, Call], AsyncIterator[Any]], path: str) -> Any:
    async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
        try:
            async for message in serve(request, Call(context)):
                yield message
        except Refusal as refusal:
            await _refuse(context, refusal)
        except (asyncio.CancelledError, grpc.aio.AbortError):
            raise
        except Exception:
            await _fail(context, path)

    return stream


async def _refuse(context: Context, refusal: Refusal) -> None:
    _, code = code_of(refusal)
    await context.abort(code, text_of(refusal), details_of(refusal))


async def _fail(context: Context, path: str) -> None:
    _log.exception("%s failed", path)
    await context.abort(grpc.StatusCode.INTERNAL, "an error of ours; the server's log says more")
