"""The reflection service: describes a server's services and messages to tools.

The messages of the old dialects are compiled into proto packages with names of this project,
because several of them share names. Tools must see them under their names on the wire. So a server
describes its services in a descriptor pool of its own, in which each dialect has its old name.
"""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1.health_pb2 import DESCRIPTOR as HEALTH
from grpc_reflection.v1alpha import reflection
from grpc_reflection.v1alpha.reflection_pb2 import DESCRIPTOR as REFLECTION

from fluxnetes.rpc.handlers import GrpcService


def add_reflection(server: grpc.aio.Server, services: Sequence[GrpcService]) -> None:
    """Add reflection of a server's services, and of those that every server has."""
    pool = DescriptorPool()
    seen: set[str] = set()
    for file in (HEALTH, REFLECTION):
        _add(pool, file, seen)
    for service in services:
        _add(pool, service.service.file, seen, called=service.name.rpartition(".")[0])
    names = [service.name for service in services]
    names += ["grpc.health.v1.Health", reflection.SERVICE_NAME]
    reflection.enable_server_reflection(names, server, pool)


def _add(pool: DescriptorPool, file: FileDescriptor, seen: set[str], called: str = "") -> None:
    """Add a file and its dependencies to a pool, its package under the name `called`."""
    if file.name in seen:
        return
    seen.add(file.name)
    for needed in file.dependencies:
        _add(pool, needed, seen)
    described = FileDescriptorProto()
    file.CopyToProto(described)
    if called and called != file.package:
        _rename(described, called)
    pool.Add(described)


def _rename(file: FileDescriptorProto, package: str) -> None:
    before, after = f".{file.package}.", f".{package}."
    file.package = package
    for message in file.message_type:
        _rename_fields(message, before, after)
    for service in file.service:
        for method in service.method:
            method.input_type = method.input_type.replace(before, after, 1)
            method.output_type = method.output_type.replace(before, after, 1)


def _rename_fields(message: DescriptorProto, before: str, after: str) -> None:
    for field in message.field:
        if field.type_name:  # setting it, even to an empty text, would mark the field as present
            field.type_name = field.type_name.replace(before, after, 1)
    for nested in message.nested_type:
        _rename_fields(nested, before, after)
