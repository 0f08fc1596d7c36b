import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Node(_message.Message):
    __slots__ = ("name", "path", "up", "properties", "pools", "shares")
    class PropertiesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    UP_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    POOLS_FIELD_NUMBER: _ClassVar[int]
    SHARES_FIELD_NUMBER: _ClassVar[int]
    name: str
    path: str
    up: bool
    properties: _containers.ScalarMap[str, str]
    pools: _containers.RepeatedCompositeFieldContainer[Pool]
    shares: _containers.RepeatedCompositeFieldContainer[Share]
    def __init__(self, name: _Optional[str] = ..., path: _Optional[str] = ..., up: _Optional[bool] = ..., properties: _Optional[_Mapping[str, str]] = ..., pools: _Optional[_Iterable[_Union[Pool, _Mapping]]] = ..., shares: _Optional[_Iterable[_Union[Share, _Mapping]]] = ...) -> None: ...

class Pool(_message.Message):
    __slots__ = ("type", "unit", "total", "free", "reserved", "others")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    FREE_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    OTHERS_FIELD_NUMBER: _ClassVar[int]
    type: str
    unit: str
    total: int
    free: int
    reserved: int
    others: int
    def __init__(self, type: _Optional[str] = ..., unit: _Optional[str] = ..., total: _Optional[int] = ..., free: _Optional[int] = ..., reserved: _Optional[int] = ..., others: _Optional[int] = ...) -> None: ...

class Share(_message.Message):
    __slots__ = ("job", "amounts", "reserved")
    class AmountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    JOB_FIELD_NUMBER: _ClassVar[int]
    AMOUNTS_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    job: int
    amounts: _containers.ScalarMap[str, int]
    reserved: bool
    def __init__(self, job: _Optional[int] = ..., amounts: _Optional[_Mapping[str, int]] = ..., reserved: _Optional[bool] = ...) -> None: ...

class ListNodesRequest(_message.Message):
    __slots__ = ("names", "page_size", "page_token")
    NAMES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    def __init__(self, names: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListNodesResponse(_message.Message):
    __slots__ = ("nodes", "next_page_token")
    NODES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[Node]
    next_page_token: str
    def __init__(self, nodes: _Optional[_Iterable[_Union[Node, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class WatchResourcesRequest(_message.Message):
    __slots__ = ("resume",)
    RESUME_FIELD_NUMBER: _ClassVar[int]
    resume: str
    def __init__(self, resume: _Optional[str] = ...) -> None: ...

class WatchResourcesResponse(_message.Message):
    __slots__ = ("kind", "node", "resume")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[WatchResourcesResponse.Kind]
        KIND_RESET: _ClassVar[WatchResourcesResponse.Kind]
        KIND_CHANGED: _ClassVar[WatchResourcesResponse.Kind]
        KIND_GONE: _ClassVar[WatchResourcesResponse.Kind]
        KIND_BOOKMARK: _ClassVar[WatchResourcesResponse.Kind]
    KIND_UNSPECIFIED: WatchResourcesResponse.Kind
    KIND_RESET: WatchResourcesResponse.Kind
    KIND_CHANGED: WatchResourcesResponse.Kind
    KIND_GONE: WatchResourcesResponse.Kind
    KIND_BOOKMARK: WatchResourcesResponse.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    kind: WatchResourcesResponse.Kind
    node: Node
    resume: str
    def __init__(self, kind: _Optional[_Union[WatchResourcesResponse.Kind, str]] = ..., node: _Optional[_Union[Node, _Mapping]] = ..., resume: _Optional[str] = ...) -> None: ...

class LoadRequest(_message.Message):
    __slots__ = ("format", "graph", "policy")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    format: str
    graph: str
    policy: str
    def __init__(self, format: _Optional[str] = ..., graph: _Optional[str] = ..., policy: _Optional[str] = ...) -> None: ...

class LoadResponse(_message.Message):
    __slots__ = ("vertices",)
    VERTICES_FIELD_NUMBER: _ClassVar[int]
    vertices: int
    def __init__(self, vertices: _Optional[int] = ...) -> None: ...

class GrowRequest(_message.Message):
    __slots__ = ("jgf",)
    JGF_FIELD_NUMBER: _ClassVar[int]
    jgf: str
    def __init__(self, jgf: _Optional[str] = ...) -> None: ...

class GrowResponse(_message.Message):
    __slots__ = ("vertices",)
    VERTICES_FIELD_NUMBER: _ClassVar[int]
    vertices: int
    def __init__(self, vertices: _Optional[int] = ...) -> None: ...

class ShrinkRequest(_message.Message):
    __slots__ = ("paths",)
    PATHS_FIELD_NUMBER: _ClassVar[int]
    paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, paths: _Optional[_Iterable[str]] = ...) -> None: ...

class ShrinkResponse(_message.Message):
    __slots__ = ("vertices",)
    VERTICES_FIELD_NUMBER: _ClassVar[int]
    vertices: int
    def __init__(self, vertices: _Optional[int] = ...) -> None: ...

class GetStatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("version", "source", "policy", "queue", "dialect", "vertices", "nodes", "nodes_up", "totals", "jobs_by_state", "started", "durable")
    class JobsByStateEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    DIALECT_FIELD_NUMBER: _ClassVar[int]
    VERTICES_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    NODES_UP_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    JOBS_BY_STATE_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    DURABLE_FIELD_NUMBER: _ClassVar[int]
    version: str
    source: str
    policy: str
    queue: bool
    dialect: str
    vertices: int
    nodes: int
    nodes_up: int
    totals: _containers.RepeatedCompositeFieldContainer[Pool]
    jobs_by_state: _containers.ScalarMap[str, int]
    started: _timestamp_pb2.Timestamp
    durable: bool
    def __init__(self, version: _Optional[str] = ..., source: _Optional[str] = ..., policy: _Optional[str] = ..., queue: _Optional[bool] = ..., dialect: _Optional[str] = ..., vertices: _Optional[int] = ..., nodes: _Optional[int] = ..., nodes_up: _Optional[int] = ..., totals: _Optional[_Iterable[_Union[Pool, _Mapping]]] = ..., jobs_by_state: _Optional[_Mapping[str, int]] = ..., started: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., durable: _Optional[bool] = ...) -> None: ...
