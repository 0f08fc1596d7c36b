from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PodSpec(_message.Message):
    __slots__ = ("id", "container", "cpu", "memory", "gpu", "storage", "labels")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    CPU_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    GPU_FIELD_NUMBER: _ClassVar[int]
    STORAGE_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    id: str
    container: str
    cpu: int
    memory: int
    gpu: int
    storage: int
    labels: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., container: _Optional[str] = ..., cpu: _Optional[int] = ..., memory: _Optional[int] = ..., gpu: _Optional[int] = ..., storage: _Optional[int] = ..., labels: _Optional[_Iterable[str]] = ...) -> None: ...

class MatchRequest(_message.Message):
    __slots__ = ("podspec", "count", "reserve", "jobName")
    PODSPEC_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    RESERVE_FIELD_NUMBER: _ClassVar[int]
    JOBNAME_FIELD_NUMBER: _ClassVar[int]
    podspec: PodSpec
    count: int
    reserve: bool
    jobName: str
    def __init__(self, podspec: _Optional[_Union[PodSpec, _Mapping]] = ..., count: _Optional[int] = ..., reserve: _Optional[bool] = ..., jobName: _Optional[str] = ...) -> None: ...

class NodeAlloc(_message.Message):
    __slots__ = ("nodeID", "tasks")
    NODEID_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    nodeID: str
    tasks: int
    def __init__(self, nodeID: _Optional[str] = ..., tasks: _Optional[int] = ...) -> None: ...

class MatchResponse(_message.Message):
    __slots__ = ("fluxID", "nodelist", "reserved", "reserved_at", "allocated")
    FLUXID_FIELD_NUMBER: _ClassVar[int]
    NODELIST_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    RESERVED_AT_FIELD_NUMBER: _ClassVar[int]
    ALLOCATED_FIELD_NUMBER: _ClassVar[int]
    fluxID: int
    nodelist: _containers.RepeatedCompositeFieldContainer[NodeAlloc]
    reserved: bool
    reserved_at: int
    allocated: bool
    def __init__(self, fluxID: _Optional[int] = ..., nodelist: _Optional[_Iterable[_Union[NodeAlloc, _Mapping]]] = ..., reserved: _Optional[bool] = ..., reserved_at: _Optional[int] = ..., allocated: _Optional[bool] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("fluxID", "NoExistOK")
    FLUXID_FIELD_NUMBER: _ClassVar[int]
    NOEXISTOK_FIELD_NUMBER: _ClassVar[int]
    fluxID: int
    NoExistOK: bool
    def __init__(self, fluxID: _Optional[int] = ..., NoExistOK: _Optional[bool] = ...) -> None: ...

class CancelResponse(_message.Message):
    __slots__ = ("fluxID", "error")
    FLUXID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    fluxID: int
    error: int
    def __init__(self, fluxID: _Optional[int] = ..., error: _Optional[int] = ...) -> None: ...
