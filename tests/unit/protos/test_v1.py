"""The protos of our own API: written as one writes them, and kept from breaking clients."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

from fluxnetes.v1 import jobs_pb2, resources_pb2
from tests.unit.protos.buf import KEPT, ROOT, Protos, copied


@pytest.fixture
def protos(tmp_path: Path) -> Protos:
    return copied(tmp_path)


def test_buf_finds_nothing_to_say() -> None:
    ours = Protos(ROOT)
    assert ours.buf("lint") == ""
    assert ours.buf("format", "--diff", "--exit-code") == ""


def test_buf_would_say_something(protos: Protos) -> None:
    protos.replace("jobs.proto", "bool missing_ok = 3", "bool missingOk = 3")
    protos.replace("resources.proto", "  // What this server is, and how it is.\n", "")
    found = protos.buf("lint")
    assert "missing_ok" in found
    assert 'RPC "GetStatus" should have a non-empty comment' in found


def test_clients_can_go_on_with_what_the_api_is_now() -> None:
    assert Protos(ROOT).breaking() == ""


def test_what_is_kept_has_all_that_the_api_has() -> None:
    """Or what was added last could be taken away unseen. `scripts/protos` keeps it."""
    kept = FileDescriptorSet.FromString(KEPT.read_bytes())
    known = {file.name: _plain(file) for file in kept.file}
    for module in (jobs_pb2, resources_pb2):
        now = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(now)
        assert known[now.name] == _plain(now), "run scripts/protos"


def _plain(file: FileDescriptorProto) -> FileDescriptorProto:
    """Without what buf adds: words of its own, and the name that JSON has for every field."""
    file.DiscardUnknownFields()
    for message in file.message_type:
        _forget_json_names(message)
    return file


def _forget_json_names(message: DescriptorProto) -> None:
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        _forget_json_names(nested)


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("jobs.proto", "  bool missing_ok = 3;\n", "", "deleted"),
        ("jobs.proto", "bool missing_ok = 3;", "bool missing_ok = 4;", "deleted"),
        ("jobs.proto", "bool missing_ok = 3;", "bool gone_ok = 3;", "changed name"),
        ("jobs.proto", "bool missing_ok = 3;", "int32 missing_ok = 3;", "changed type"),
        ("jobs.proto", "JOB_STATE_RESERVED = 12;", "JOB_STATE_RESERVED = 13;", "deleted"),
        ("jobs.proto", "rpc Hold(", "rpc Keep(", "deleted"),
        ("jobs.proto", "(stream WatchJobsResponse)", "(WatchJobsResponse)", "streaming"),
        ("resources.proto", "repeated Pool totals = 9;", "Pool totals = 9;", "cardinality"),
        ("resources.proto", "service ResourceService", "service Resources", "deleted"),
    ],
)
def test_what_would_break_clients_is_seen(
    protos: Protos, file: str, before: str, after: str, said: str
) -> None:
    protos.replace(file, before, after)
    assert said in protos.breaking()


def test_what_is_added_breaks_no_client(protos: Protos) -> None:
    protos.replace("jobs.proto", "bool missing_ok = 3;", "bool missing_ok = 3;\n  bool soon = 4;")
    protos.replace("jobs.proto", "service JobService {", "message New {}\nservice JobService {")
    assert protos.breaking() == ""
