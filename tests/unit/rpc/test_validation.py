"""A NUL character in any text of any request is refused with its path."""

from __future__ import annotations

import pytest
from google.protobuf.message import Message

from fluxnetes.rpc.validation import invalid_text
from fluxnetes.rpc.wire import external_pb2, fluxcli_pb2, jobspec_pb2, podspec_pb2
from fluxnetes.v1 import jobs_pb2, resources_pb2

BAD = "a\0b"


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (jobs_pb2.MatchRequest(name=BAD), "name"),
        (jobs_pb2.MatchRequest(ask=jobs_pb2.Ask(jobspec=BAD)), "ask.jobspec"),
        (jobs_pb2.SubmitRequest(user=BAD), "user"),
        (
            jobs_pb2.MatchRequest(
                ask=jobs_pb2.Ask(
                    gang=jobs_pb2.Gang(shapes=[jobs_pb2.Shape(), jobs_pb2.Shape(amounts={BAD: 1})])
                )
            ),
            "ask.gang.shapes[1].amounts",
        ),
        (jobs_pb2.CancelRequest(job=1, reason=BAD), "reason"),
        (fluxcli_pb2.MatchRequest(ps=fluxcli_pb2.PodSpec(id=BAD)), "ps.id"),
        (fluxcli_pb2.MatchRequest(ps=fluxcli_pb2.PodSpec(labels=["x", BAD])), "ps.labels[1]"),
        (podspec_pb2.MatchRequest(jobName=BAD), "jobName"),
        (jobspec_pb2.MatchRequest(jobspec=BAD), "jobspec"),
        (jobspec_pb2.InitRequest(jgf=BAD), "jgf"),
    ],
    ids=lambda each: "" if isinstance(each, Message) else each,
)
def test_a_nul_character_is_refused_with_its_path(message: Message, path: str) -> None:
    error = invalid_text(message)
    assert error is not None
    assert error.field == path


@pytest.mark.parametrize(
    "message",
    [
        jobs_pb2.MatchRequest(name="a"),
        resources_pb2.GetStatusRequest(),
        external_pb2.GroupRequest(),
    ],
    ids=lambda each: type(each).__name__,
)
def test_other_requests_are_left_alone(message: Message) -> None:
    assert invalid_text(message) is None
