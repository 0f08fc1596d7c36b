"""What a FluxJob says, and that its definition and its page agree with that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.controller.leadership.crd import manifest
from fluxnetes.controller.reporting.fluxjob_view import (
    LONGEST_NAME,
    WIDEST,
    FluxJobView,
    fluxjob_name,
    spec,
    status,
)
from fluxnetes.kube.objects.base import Condition
from fluxnetes.kube.objects.fluxjobs import (
    Columns,
    FluxJobResources,
    FluxJobSpec,
    FluxJobStatus,
    Wrapped,
)
from fluxnetes.queue.states import ENDED, JobState

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "fluxjob.md"
NEW = FluxJobStatus()


def a_view(state: JobState = JobState.PENDING, **fields: Any) -> FluxJobView:
    return FluxJobView("default", "a", Wrapped.JOB, state, **fields)


# --- names ---


@pytest.mark.parametrize("kind", Wrapped)
def test_the_name_is_that_of_the_workload_and_its_kind(kind: Wrapped) -> None:
    assert fluxjob_name("my.train-1", kind) == f"my.train-1-{kind.suffix}"


@given(st.text(max_size=300), st.text(max_size=20))
def test_every_name_is_one_that_kubernetes_takes(name: str, tag: str) -> None:
    made = fluxjob_name(name, Wrapped.GROUP, tag)
    assert len(made) <= LONGEST_NAME
    assert all(label and label == label.strip("-") for label in made.split("."))
    assert set(made) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")


def test_names_that_must_be_changed_stay_different() -> None:
    names = ["A", "a_", "_a", "a" * 300, "a" * 301, "é", ""]
    tagged = [("a", ""), ("a", "1"), ("a", "2")]
    made = [fluxjob_name(name, Wrapped.GROUP) for name in names]
    made += [fluxjob_name(name, Wrapped.GROUP, tag) for name, tag in tagged]
    assert len(set(made)) == len(made)


# --- the status ---


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (JobState.GATHERING, "statusNew"),
        (JobState.PENDING, "statusSubmit"),
        (JobState.COMPLETED, "statusSubmit"),
        (JobState.REJECTED, "statusError"),
        (JobState.CANCELLED, "statusCancel"),
    ],
)
def test_the_old_word_for_a_state_is_still_said(state: JobState, word: str) -> None:
    assert status(a_view(state), NEW, 0).submit_status == word


@pytest.mark.parametrize("state", JobState)
def test_what_has_ended_is_complete_or_failed_and_nothing_else_is(state: JobState) -> None:
    said = {c.type: c.status == "True" for c in status(a_view(state), NEW, 0).conditions}
    assert (said["Complete"] or said["Failed"]) == (state in ENDED)
    assert said["Complete"] == (state is JobState.COMPLETED)


def test_a_job_that_never_started_was_never_scheduled() -> None:
    for state, start, expected in [
        (JobState.REJECTED, None, "False"),
        (JobState.TIMED_OUT, 5, "True"),
        (JobState.PENDING, None, "False"),
        (JobState.ALLOCATED, 5, "True"),
    ]:
        scheduled = status(a_view(state, start=start), NEW, 0).conditions[0]
        assert (scheduled.type, scheduled.status) == ("Scheduled", expected)


def test_the_reason_of_a_condition_is_one_word() -> None:
    [*_, failed] = status(a_view(JobState.TIMED_OUT), NEW, 0).conditions
    assert failed.reason == "TimedOut"


def test_long_texts_are_whole_in_the_status_and_short_in_the_table() -> None:
    nodes = tuple(f"ip-10-0-{n}-1.internal.example" for n in range(100))
    said = status(a_view(reason="busy " * 100, nodes=nodes), NEW, 0)
    assert said.reason == "busy " * 100
    assert said.nodes == nodes
    assert len(said.columns.reason) <= WIDEST and said.columns.reason.endswith("...")
    assert said.columns.nodes == "ip-10-0-0-1.internal.example +99"


def test_nodes_that_are_numbered_are_short_anyway() -> None:
    said = status(a_view(nodes=tuple(f"node-{n}" for n in range(1000))), NEW, 0)
    assert said.columns.nodes == said.node_list == "node-[0-999]"


def test_only_a_job_that_waits_has_a_forecast() -> None:
    waits = a_view(position=1, eta=5, reason="busy")
    assert waits.without_forecast == a_view()
    ended = a_view(JobState.FAILED, reason="it lost its nodes")
    assert ended.without_forecast == ended


# --- the definition and the page ---


def schema() -> dict[str, Any]:
    [version] = manifest()["spec"]["versions"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return found


def properties(part: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, content in part.get("properties", {}).items():
        yield f"{path}{name}"
        yield from properties(content, f"{path}{name}.")


def fields(struct: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(struct)}


@pytest.mark.parametrize(
    ("path", "struct"),
    [
        ("spec", FluxJobSpec),
        ("spec.resources", FluxJobResources),
        ("status", FluxJobStatus),
        ("status.columns", Columns),
    ],
)
def test_the_definition_has_the_fields_that_we_write(
    path: str, struct: type[msgspec.Struct]
) -> None:
    depth = path.count(".") + 1
    below = [each for each in properties(schema(), "") if each.startswith(f"{path}.")]
    assert {each.split(".")[-1] for each in below if each.count(".") == depth} == fields(struct)


def test_the_definition_has_the_fields_of_a_condition() -> None:
    items = schema()["properties"]["status"]["properties"]["conditions"]["items"]
    assert set(items["properties"]) == fields(Condition)


def test_every_column_shows_a_field_that_there_is() -> None:
    [version] = manifest()["spec"]["versions"]
    known = {f".{path}" for path in properties(schema())} | {".metadata.creationTimestamp"}
    assert {column["jsonPath"] for column in version["additionalPrinterColumns"]} <= known


def test_the_definition_knows_every_type() -> None:
    assert schema()["properties"]["spec"]["properties"]["type"]["enum"] == list(Wrapped)


def test_the_page_tells_of_every_field_state_type_and_name() -> None:
    text = PAGE.read_text()
    documented = {"spec", "status", "apiVersion", "kind", "metadata"}
    inner = {"spec.resources", "status.columns.reason", "status.columns.nodes"}
    for path in set(properties(schema())) - documented - inner:
        assert f"`{path}`" in text, path
    for state in JobState:
        assert f"`{state.value}`" in text
    for kind in Wrapped:
        assert f"| {kind.value} |" in text and f"-{kind.suffix}`" in text


def test_what_is_asked_for_is_said_in_the_old_words() -> None:
    asked = spec(a_view(walltime=60, size=4, jobspec="version: 1"))
    assert (asked.type, asked.name, asked.duration, asked.nodes) == (1, "a", 60, 4)
    assert spec(a_view(walltime=None)).duration == 0
