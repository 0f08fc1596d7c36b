import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JobState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_STATE_UNSPECIFIED: _ClassVar[JobState]
    JOB_STATE_GATHERING: _ClassVar[JobState]
    JOB_STATE_HELD: _ClassVar[JobState]
    JOB_STATE_PENDING: _ClassVar[JobState]
    JOB_STATE_ALLOCATED: _ClassVar[JobState]
    JOB_STATE_RUNNING: _ClassVar[JobState]
    JOB_STATE_ENDING: _ClassVar[JobState]
    JOB_STATE_COMPLETED: _ClassVar[JobState]
    JOB_STATE_FAILED: _ClassVar[JobState]
    JOB_STATE_CANCELLED: _ClassVar[JobState]
    JOB_STATE_TIMED_OUT: _ClassVar[JobState]
    JOB_STATE_REJECTED: _ClassVar[JobState]
    JOB_STATE_RESERVED: _ClassVar[JobState]
JOB_STATE_UNSPECIFIED: JobState
JOB_STATE_GATHERING: JobState
JOB_STATE_HELD: JobState
JOB_STATE_PENDING: JobState
JOB_STATE_ALLOCATED: JobState
JOB_STATE_RUNNING: JobState
JOB_STATE_ENDING: JobState
JOB_STATE_COMPLETED: JobState
JOB_STATE_FAILED: JobState
JOB_STATE_CANCELLED: JobState
JOB_STATE_TIMED_OUT: JobState
JOB_STATE_REJECTED: JobState
JOB_STATE_RESERVED: JobState

class Ask(_message.Message):
    __slots__ = ("jobspec", "gang")
    JOBSPEC_FIELD_NUMBER: _ClassVar[int]
    GANG_FIELD_NUMBER: _ClassVar[int]
    jobspec: str
    gang: Gang
    def __init__(self, jobspec: _Optional[str] = ..., gang: _Optional[_Union[Gang, _Mapping]] = ...) -> None: ...

class Gang(_message.Message):
    __slots__ = ("shapes",)
    SHAPES_FIELD_NUMBER: _ClassVar[int]
    shapes: _containers.RepeatedCompositeFieldContainer[Shape]
    def __init__(self, shapes: _Optional[_Iterable[_Union[Shape, _Mapping]]] = ...) -> None: ...

class Shape(_message.Message):
    __slots__ = ("count", "amounts", "exclusive")
    class AmountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    COUNT_FIELD_NUMBER: _ClassVar[int]
    AMOUNTS_FIELD_NUMBER: _ClassVar[int]
    EXCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    count: int
    amounts: _containers.ScalarMap[str, int]
    exclusive: bool
    def __init__(self, count: _Optional[int] = ..., amounts: _Optional[_Mapping[str, int]] = ..., exclusive: _Optional[bool] = ...) -> None: ...

class Job(_message.Message):
    __slots__ = ("id", "state", "reason", "name", "namespace", "user", "queue", "priority", "walltime", "submitted", "started", "deadline", "ended", "promised", "nodes", "reason_code")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    WALLTIME_FIELD_NUMBER: _ClassVar[int]
    SUBMITTED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    PROMISED_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    id: int
    state: JobState
    reason: str
    name: str
    namespace: str
    user: str
    queue: str
    priority: int
    walltime: _duration_pb2.Duration
    submitted: _timestamp_pb2.Timestamp
    started: _timestamp_pb2.Timestamp
    deadline: _timestamp_pb2.Timestamp
    ended: _timestamp_pb2.Timestamp
    promised: _timestamp_pb2.Timestamp
    nodes: _containers.RepeatedCompositeFieldContainer[NodeShare]
    reason_code: str
    def __init__(self, id: _Optional[int] = ..., state: _Optional[_Union[JobState, str]] = ..., reason: _Optional[str] = ..., name: _Optional[str] = ..., namespace: _Optional[str] = ..., user: _Optional[str] = ..., queue: _Optional[str] = ..., priority: _Optional[int] = ..., walltime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., submitted: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., deadline: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., promised: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., nodes: _Optional[_Iterable[_Union[NodeShare, _Mapping]]] = ..., reason_code: _Optional[str] = ...) -> None: ...

class NodeShare(_message.Message):
    __slots__ = ("node", "tasks", "amounts")
    class AmountsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    NODE_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    AMOUNTS_FIELD_NUMBER: _ClassVar[int]
    node: str
    tasks: int
    amounts: _containers.ScalarMap[str, int]
    def __init__(self, node: _Optional[str] = ..., tasks: _Optional[int] = ..., amounts: _Optional[_Mapping[str, int]] = ...) -> None: ...

class Allocation(_message.Message):
    __slots__ = ("format", "text")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    format: str
    text: str
    def __init__(self, format: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class SubmitRequest(_message.Message):
    __slots__ = ("ask", "walltime", "name", "namespace", "user", "queue", "priority", "held", "begin", "dependencies", "request_id")
    ASK_FIELD_NUMBER: _ClassVar[int]
    WALLTIME_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ask: Ask
    walltime: _duration_pb2.Duration
    name: str
    namespace: str
    user: str
    queue: str
    priority: int
    held: bool
    begin: _timestamp_pb2.Timestamp
    dependencies: _containers.RepeatedCompositeFieldContainer[Dependency]
    request_id: str
    def __init__(self, ask: _Optional[_Union[Ask, _Mapping]] = ..., walltime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., name: _Optional[str] = ..., namespace: _Optional[str] = ..., user: _Optional[str] = ..., queue: _Optional[str] = ..., priority: _Optional[int] = ..., held: _Optional[bool] = ..., begin: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., dependencies: _Optional[_Iterable[_Union[Dependency, _Mapping]]] = ..., request_id: _Optional[str] = ...) -> None: ...

class Dependency(_message.Message):
    __slots__ = ("kind", "job")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Dependency.Kind]
        KIND_AFTER: _ClassVar[Dependency.Kind]
        KIND_AFTER_OK: _ClassVar[Dependency.Kind]
        KIND_AFTER_ANY: _ClassVar[Dependency.Kind]
    KIND_UNSPECIFIED: Dependency.Kind
    KIND_AFTER: Dependency.Kind
    KIND_AFTER_OK: Dependency.Kind
    KIND_AFTER_ANY: Dependency.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    kind: Dependency.Kind
    job: int
    def __init__(self, kind: _Optional[_Union[Dependency.Kind, str]] = ..., job: _Optional[int] = ...) -> None: ...

class SubmitResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class MatchRequest(_message.Message):
    __slots__ = ("ask", "reserve", "name", "request_id", "format", "now", "walltime")
    ASK_FIELD_NUMBER: _ClassVar[int]
    RESERVE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    WALLTIME_FIELD_NUMBER: _ClassVar[int]
    ask: Ask
    reserve: bool
    name: str
    request_id: str
    format: str
    now: int
    walltime: _duration_pb2.Duration
    def __init__(self, ask: _Optional[_Union[Ask, _Mapping]] = ..., reserve: _Optional[bool] = ..., name: _Optional[str] = ..., request_id: _Optional[str] = ..., format: _Optional[str] = ..., now: _Optional[int] = ..., walltime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class MatchResponse(_message.Message):
    __slots__ = ("job", "allocation", "at", "overhead")
    JOB_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    OVERHEAD_FIELD_NUMBER: _ClassVar[int]
    job: Job
    allocation: Allocation
    at: int
    overhead: _duration_pb2.Duration
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ..., allocation: _Optional[_Union[Allocation, _Mapping]] = ..., at: _Optional[int] = ..., overhead: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class UpdateRequest(_message.Message):
    __slots__ = ("job", "allocation", "at", "duration", "now")
    JOB_FIELD_NUMBER: _ClassVar[int]
    ALLOCATION_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    job: int
    allocation: Allocation
    at: int
    duration: _duration_pb2.Duration
    now: int
    def __init__(self, job: _Optional[int] = ..., allocation: _Optional[_Union[Allocation, _Mapping]] = ..., at: _Optional[int] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., now: _Optional[int] = ...) -> None: ...

class UpdateResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class RenewRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class RenewResponse(_message.Message):
    __slots__ = ("expires",)
    EXPIRES_FIELD_NUMBER: _ClassVar[int]
    expires: _timestamp_pb2.Timestamp
    def __init__(self, expires: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class StartRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class StartResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class FinishRequest(_message.Message):
    __slots__ = ("job", "failed", "reason")
    JOB_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    job: int
    failed: bool
    reason: str
    def __init__(self, job: _Optional[int] = ..., failed: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class FinishResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("job", "reason", "missing_ok")
    JOB_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MISSING_OK_FIELD_NUMBER: _ClassVar[int]
    job: int
    reason: str
    missing_ok: bool
    def __init__(self, job: _Optional[int] = ..., reason: _Optional[str] = ..., missing_ok: _Optional[bool] = ...) -> None: ...

class CancelResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class HoldRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class HoldResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class ReleaseRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class ReleaseResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class GetJobRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class GetJobResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: int
    def __init__(self, job: _Optional[int] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ("job", "reason", "ahead", "story", "reason_code")
    JOB_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AHEAD_FIELD_NUMBER: _ClassVar[int]
    STORY_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    job: Job
    reason: str
    ahead: int
    story: _containers.RepeatedCompositeFieldContainer[StoryEvent]
    reason_code: str
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ..., reason: _Optional[str] = ..., ahead: _Optional[int] = ..., story: _Optional[_Iterable[_Union[StoryEvent, _Mapping]]] = ..., reason_code: _Optional[str] = ...) -> None: ...

class StoryEvent(_message.Message):
    __slots__ = ("time", "text")
    TIME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    text: str
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., text: _Optional[str] = ...) -> None: ...

class EstimateRequest(_message.Message):
    __slots__ = ("ask", "walltime", "namespace", "user", "queue", "priority", "now")
    ASK_FIELD_NUMBER: _ClassVar[int]
    WALLTIME_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    ask: Ask
    walltime: _duration_pb2.Duration
    namespace: str
    user: str
    queue: str
    priority: int
    now: int
    def __init__(self, ask: _Optional[_Union[Ask, _Mapping]] = ..., walltime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., namespace: _Optional[str] = ..., user: _Optional[str] = ..., queue: _Optional[str] = ..., priority: _Optional[int] = ..., now: _Optional[int] = ...) -> None: ...

class EstimateResponse(_message.Message):
    __slots__ = ("known", "start", "nodes", "reason", "at", "reason_code")
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    known: bool
    start: _timestamp_pb2.Timestamp
    nodes: _containers.RepeatedCompositeFieldContainer[NodeShare]
    reason: str
    at: int
    reason_code: str
    def __init__(self, known: _Optional[bool] = ..., start: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., nodes: _Optional[_Iterable[_Union[NodeShare, _Mapping]]] = ..., reason: _Optional[str] = ..., at: _Optional[int] = ..., reason_code: _Optional[str] = ...) -> None: ...

class WatchJobsRequest(_message.Message):
    __slots__ = ("resume", "namespace", "queue")
    RESUME_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    resume: str
    namespace: str
    queue: str
    def __init__(self, resume: _Optional[str] = ..., namespace: _Optional[str] = ..., queue: _Optional[str] = ...) -> None: ...

class WatchJobsResponse(_message.Message):
    __slots__ = ("kind", "job", "resume")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[WatchJobsResponse.Kind]
        KIND_RESET: _ClassVar[WatchJobsResponse.Kind]
        KIND_CHANGED: _ClassVar[WatchJobsResponse.Kind]
        KIND_ENDED: _ClassVar[WatchJobsResponse.Kind]
        KIND_BOOKMARK: _ClassVar[WatchJobsResponse.Kind]
    KIND_UNSPECIFIED: WatchJobsResponse.Kind
    KIND_RESET: WatchJobsResponse.Kind
    KIND_CHANGED: WatchJobsResponse.Kind
    KIND_ENDED: WatchJobsResponse.Kind
    KIND_BOOKMARK: WatchJobsResponse.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    kind: WatchJobsResponse.Kind
    job: Job
    resume: str
    def __init__(self, kind: _Optional[_Union[WatchJobsResponse.Kind, str]] = ..., job: _Optional[_Union[Job, _Mapping]] = ..., resume: _Optional[str] = ...) -> None: ...
