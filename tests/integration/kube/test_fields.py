"""Every field that we read is one that the server has.

A misspelt field would not be an error: it would just always have its default. So all structs are
held against the schema that a real server publishes. What only newer servers have is held against
the newest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from fluxnetes.kube.objects.base import Resource
from fluxnetes.kube.objects.events import EVENTS
from fluxnetes.kube.objects.jobs import JOBS
from fluxnetes.kube.objects.leases import LEASES
from fluxnetes.kube.objects.namespaces import NAMESPACES
from fluxnetes.kube.objects.nodes import NODES
from fluxnetes.kube.objects.podgroups import NATIVE_POD_GROUPS
from fluxnetes.kube.objects.pods import PODS
from fluxnetes.kube.objects.volumes import CLAIMS, STORAGE_CLASSES, VOLUMES
from fluxnetes.plane.plane import ControlPlane

Schema = dict[str, Any]

BUILT_IN: list[Resource[Any]] = [
    PODS,
    NODES,
    JOBS,
    LEASES,
    EVENTS,
    NAMESPACES,
    CLAIMS,
    VOLUMES,
    STORAGE_CLASSES,
]


BETA, ALPHA = NATIVE_POD_GROUPS
NEWER = {"Job": [".spec.scheduling"]}
"""Fields that only the newest servers have."""


@pytest.mark.parametrize("resource", [*BUILT_IN, ALPHA], ids=lambda resource: resource.kind)
def test_every_field_is_one_that_the_server_has(
    plane: ControlPlane, resource: Resource[Any]
) -> None:
    assert fields_unknown_to(plane, resource) == NEWER.get(resource.kind, [])


@pytest.mark.parametrize("resource", [*BUILT_IN, BETA], ids=lambda resource: resource.kind)
def test_every_field_is_one_that_the_newest_server_has(
    newest_plane: ControlPlane, resource: Resource[Any]
) -> None:
    assert fields_unknown_to(newest_plane, resource) == []


def fields_unknown_to(plane: ControlPlane, resource: Resource[Any]) -> list[str]:
    """Fields of our struct that the schema of a server does not have."""
    root = "apis/" if resource.group else "api/"
    with plane.api() as api:
        schemas = api.get(f"/openapi/v3/{root}{resource.api_version}")["components"]["schemas"]
    [schema] = [s for s in schemas.values() if is_of(s, resource)]
    return list(unknown_fields(inspect.type_info(resource.type), schema, schemas, ""))


def is_of(schema: Schema, resource: Resource[Any]) -> bool:
    wanted = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return wanted in schema.get("x-kubernetes-group-version-kind", ())


def unknown_fields(
    kind: inspect.Type, schema: Schema, schemas: dict[str, Schema], path: str
) -> Iterator[str]:
    """The paths that the schema does not have."""
    schema = resolved(schema, schemas)
    if isinstance(kind, inspect.UnionType):
        for member in kind.types:
            if not isinstance(member, inspect.NoneType):
                yield from unknown_fields(member, schema, schemas, path)
    elif isinstance(kind, inspect.VarTupleType):
        yield from unknown_fields(kind.item_type, schema["items"], schemas, f"{path}[]")
    elif isinstance(kind, inspect.DictType):
        if "additionalProperties" not in schema:
            yield f"{path}{{}}"
    elif isinstance(kind, inspect.StructType):
        for field in kind.fields:
            inner = f"{path}.{field.encode_name}"
            if field.encode_name in schema.get("properties", {}):
                found = schema["properties"][field.encode_name]
                yield from unknown_fields(field.type, found, schemas, inner)
            else:
                yield inner


def resolved(schema: Schema, schemas: dict[str, Schema]) -> Schema:
    """The schema that a reference stands for."""
    while "$ref" in schema or "allOf" in schema:
        reference = schema["$ref"] if "$ref" in schema else schema["allOf"][0]["$ref"]
        schema = schemas[reference.rsplit("/", 1)[1]]
    return schema


class Inner(msgspec.Struct):
    """A struct with a mistake."""

    right: int
    wrong: int


class Outer(msgspec.Struct):
    many: tuple[Inner, ...] | None = None


def test_a_field_that_the_server_does_not_have_would_be_found() -> None:
    item = {"$ref": "#/components/schemas/Inner"}
    schemas = {"Inner": {"properties": {"right": {"type": "integer"}}}}
    schema = {"properties": {"many": {"type": "array", "items": item}}}
    found = list(unknown_fields(inspect.type_info(Outer), schema, schemas, ""))
    assert found == [".many[].wrong"]
