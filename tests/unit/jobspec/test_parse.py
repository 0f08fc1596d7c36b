"""What is a jobspec and what is not, rule by rule."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest

from fluxnetes.jobspec import (
    Count,
    JobspecError,
    Resource,
    Task,
    jobspec_from_document,
    parse_jobspec,
)
from fluxnetes.jobspec.constraint import Properties
from fluxnetes.jobspec.model import MAX_RESOURCES, UINT_MAX
from tests.unit.jobspec.samples import RFC14, RFC25, full_document, path_of, with_value, without

Keys = tuple[str | int, ...]

NODE: Keys = ("resources", 0)
COUNT: Keys = (*NODE, "count")
SLOT: Keys = (*NODE, "with", 0)
CORE: Keys = (*SLOT, "with", 0)
MEMORY: Keys = (*SLOT, "with", 1)
TASK: Keys = ("tasks", 0)
SYSTEM: Keys = ("attributes", "system")


def refusal(document: object) -> JobspecError:
    with pytest.raises(JobspecError) as caught:
        jobspec_from_document(document)
    return caught.value


# -- what is read ----------------------------------------------------------------------------------


def test_the_rfc14_example_is_read() -> None:
    jobspec = parse_jobspec(RFC14)
    core = Resource("core", Count(2, 2))
    slot = Resource("slot", Count(1, 1), (core,), label="default")
    assert jobspec.resources == (Resource("node", Count(4, 4), (slot,)),)
    assert jobspec.tasks == (Task(("app",), "default", {"per_slot": 1}),)
    assert (jobspec.version, jobspec.duration, jobspec.queue) == (999, 3600.0, None)


def test_an_rfc25_jobspec_in_json_is_read_with_all_its_attributes() -> None:
    jobspec = parse_jobspec(RFC25)
    assert [child.type for child in jobspec.resources[0].children] == ["core", "gpu"]
    assert jobspec.queue == "batch"
    assert jobspec.tasks[0].count == {"total": 10}
    assert jobspec.attributes["system"]["dependencies"] == [{"scheme": "afterok", "value": "1"}]
    assert jobspec.attributes["user"] == {"project": "x"}


def test_every_known_key_is_read() -> None:
    jobspec = jobspec_from_document(full_document())
    (node,) = jobspec.resources
    (slot,) = node.children
    core, memory = slot.children
    assert (node.count, node.exclusive, node.id) == (Count(2, 8, "*", 2), True, "nodes")
    assert (slot.label, slot.exclusive) == ("default", None)
    assert core.count == Count(4, UINT_MAX)
    assert (memory.unit, memory.exclusive) == ("GB", False)
    assert jobspec.tasks[0].distribution == "cyclic"
    assert jobspec.tasks[0].attributes == {"color": "red"}
    assert jobspec.constraint == Properties(("gpu",), ("old",))
    assert jobspec.attributes == full_document()["attributes"]


def test_bytes_and_text_are_read_alike() -> None:
    assert parse_jobspec(RFC14.encode()) == parse_jobspec(RFC14)
    assert parse_jobspec("\ufeff" + RFC14) == parse_jobspec(RFC14)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ((*MEMORY, "count"), 0),
        ((*MEMORY, "count"), UINT_MAX),
        ((*MEMORY, "count"), "4"),
        (("version",), "9999"),
        (("resources",), []),
        (("tasks",), []),
        (("attributes",), None),
        (("attributes",), {}),
        (SYSTEM, None),
        ((*SYSTEM, "environment"), None),
        ((*SYSTEM, "environment"), {"A": 1, "B": None}),
        ((*SYSTEM, "cwd"), None),
        ((*SYSTEM, "constraints"), {}),
        (("attributes", "user"), "free text"),
        ((*SLOT, "label"), ""),
        ((*NODE, "exclusive"), "false"),
        ((*COUNT, "max"), 2),
        (COUNT, {"min": 2, "max": 9, "operator": "^", "operand": 2}),
        (COUNT, {"min": 1, "max": UINT_MAX, "operator": "+", "operand": 2**31 - 1}),
        ((*TASK, "command"), []),
    ],
)
def test_unusual_values_that_the_reference_takes_are_taken(keys: Keys, value: object) -> None:
    jobspec_from_document(with_value(full_document(), keys, value))


def test_a_scalar_count_of_zero_is_read_and_never_fits() -> None:
    document = with_value(full_document(), COUNT, 0)
    assert jobspec_from_document(document).resources[0].count.fit(100) == 0


@pytest.mark.parametrize(
    ("written", "count"), [("0x10", 16), ("010", 8), ("+4", 4), ('"4"', 4), ("4", 4)]
)
def test_integers_are_read_in_every_form_of_the_reference(written: str, count: int) -> None:
    jobspec = parse_jobspec(RFC14.replace("count: 4", f"count: {written}"))
    assert jobspec.resources[0].count == Count(count, count)


@pytest.mark.parametrize(
    ("written", "duration"), [("0", 0), ("0.5", 0.5), ("1e3", 1000), (".5", 0.5), ("'60'", 60)]
)
def test_a_duration_is_any_number_of_seconds(written: str, duration: float) -> None:
    assert parse_jobspec(RFC14.replace("3600.", written)).duration == duration


def test_text_is_kept_to_the_letter_even_where_it_looks_like_a_number() -> None:
    text = RFC14.replace('"app"', "app, 1.50, 010, 1e3, yes, 2.5, 7").replace("default", "1.50")
    jobspec = parse_jobspec(text)
    assert jobspec.tasks[0].command == ("app", "1.50", "010", "1e3", "yes", "2.5", "7")
    assert jobspec.tasks[0].slot == "1.50"
    assert jobspec.resources[0].children[0].label == "1.50"


def test_a_task_needs_a_count_or_a_distribution_or_attributes() -> None:
    document = without(without(full_document(), (*TASK, "count")), (*TASK, "attributes"))
    assert jobspec_from_document(document).tasks[0].count == {}
    bare = without(document, (*TASK, "distribution"))
    assert refusal(bare).path == "tasks[0].count"


def test_an_xor_slot_needs_no_label_and_a_slot_does() -> None:
    unlabelled = without(full_document(), (*SLOT, "label"))
    assert refusal(unlabelled).path == "resources[0].with[0].label"
    either = with_value(unlabelled, (*SLOT, "type"), "xor_slot")
    assert jobspec_from_document(either).resources[0].children[0].label is None


@pytest.mark.parametrize("queue", [None, ""])
def test_an_empty_queue_is_no_queue(queue: object) -> None:
    document = with_value(full_document(), (*SYSTEM, "queue"), queue)
    assert jobspec_from_document(document).queue is None


# -- what is refused -------------------------------------------------------------------------------

NOT_COUNTS: list[Any] = [-1, 2**32, 1.0, "two", "1.0", "1_0", "", True, None, [], "-1"]
NOT_TEXT: list[Any] = [None, [], {}]


@pytest.mark.parametrize("value", [None, [], "text", 1, True])
def test_a_document_that_is_no_mapping_is_refused(value: object) -> None:
    assert refusal(value).path == ""


@pytest.mark.parametrize(
    "keys",
    [
        ("version",),
        ("resources",),
        ("tasks",),
        ("attributes",),
        (*NODE, "type"),
        (*NODE, "count"),
        (*CORE, "count"),
        (*COUNT, "min"),
        (*COUNT, "max"),
        (*COUNT, "operator"),
        (*COUNT, "operand"),
        (*SLOT, "label"),
        (*TASK, "command"),
        (*TASK, "slot"),
    ],
)
def test_a_required_key_that_is_missing_is_named(keys: Keys) -> None:
    error = refusal(without(full_document(), keys))
    assert (error.path, error.found) == (path_of(keys), "nothing")


@pytest.mark.parametrize("keys", [(), NODE, SLOT, COUNT, TASK, ("attributes",)])
def test_an_unknown_key_is_named_with_the_keys_that_are_known(keys: Keys) -> None:
    error = refusal(with_value(full_document(), (*keys, "requires"), {}))
    assert error.path == path_of((*keys, "requires"))
    assert error.allowed.startswith("one of ")


@pytest.mark.parametrize(
    ("keys", "values"),
    [
        (("version",), [0, 10000, "one", None, [], {}, True, 1.0]),
        (("resources",), [None, {}, "core", 1]),
        (("tasks",), [None, {}, "app", 1]),
        (("attributes",), [[], "x", 1]),
        (NODE, [None, [], "node", 1]),
        ((*NODE, "type"), NOT_TEXT),
        ((*NODE, "id"), NOT_TEXT),
        ((*SLOT, "label"), NOT_TEXT),
        ((*MEMORY, "unit"), NOT_TEXT),
        ((*NODE, "exclusive"), [1, 0, "yes", "True", None, []]),
        ((*NODE, "with"), [None, {}, "core", 1]),
        (COUNT, NOT_COUNTS),
        ((*CORE, "count", "min"), [0, *NOT_COUNTS, {}]),
        ((*COUNT, "min"), [0, *NOT_COUNTS, {}]),
        ((*COUNT, "max"), [1, *NOT_COUNTS, {}]),
        ((*COUNT, "operand"), [1, 0, 2**31, *NOT_COUNTS, {}]),
        ((*COUNT, "operator"), ["-", "", "**", 1, None, [], {}]),
        (TASK, [None, [], "app", 1]),
        ((*TASK, "command"), ["app", None, {}, 1]),
        ((*TASK, "command", 1), NOT_TEXT),
        ((*TASK, "slot"), NOT_TEXT),
        ((*TASK, "count"), [None, [], 1, {}, {"per_slot": 1, "total": 2}]),
        ((*TASK, "count", "per_slot"), NOT_COUNTS),
        ((*TASK, "distribution"), NOT_TEXT),
        ((*TASK, "attributes"), [None, [], "x"]),
        ((*TASK, "attributes", "color"), [[], {}]),
        (SYSTEM, [[], "x", 1]),
        ((*SYSTEM, "duration"), [-1, -0.5, float("nan"), float("inf"), 10**400, *NOT_TEXT]),
        ((*SYSTEM, "duration"), ["1h", "1 hour", "inf", ".nan", "1_0", "", True, "-1", "1e999"]),
        ((*SYSTEM, "queue"), [[], {}]),
        ((*SYSTEM, "cwd"), [[], {}]),
        ((*SYSTEM, "environment"), [[], "x"]),
        ((*SYSTEM, "environment", "HOME"), [[], {}]),
        ((*SYSTEM, "constraints"), [None, [], "gpu", 1]),
    ],
)
def test_a_value_that_does_not_fit_is_named(keys: Keys, values: list[Any]) -> None:
    for value in values:
        error = refusal(with_value(full_document(), keys, value))
        assert error.path == path_of(keys), value


def test_the_least_operand_depends_on_the_operator() -> None:
    def read(operator: str, operand: int, least: int = 2) -> None:
        count = {"min": least, "max": 8, "operator": operator, "operand": operand}
        jobspec_from_document(with_value(full_document(), COUNT, count))

    read("+", 1, least=1)
    for operator in "*^":
        with pytest.raises(JobspecError, match=r"count\.operand: found 1, expected"):
            read(operator, 1)
    with pytest.raises(JobspecError, match=r"count\.min: found 1, expected .* at least 2"):
        read("^", 2, least=1)


def test_exclusive_is_true_or_false_and_not_the_yes_of_old_yaml() -> None:
    text = RFC14.replace("count: 4", "count: 4\n    exclusive: {}")
    assert parse_jobspec(text.replace("{}", "true")).resources[0].exclusive is True
    for word in ("yes", "on", "True", "TRUE"):
        with pytest.raises(JobspecError, match=r"resources\[0\]\.exclusive: found "):
            parse_jobspec(text.replace("{}", word))


def test_more_resources_than_the_limit_are_refused() -> None:
    entry = {"type": "core", "count": 1}
    document = with_value(full_document(), ("resources",), [entry] * MAX_RESOURCES)
    assert len(jobspec_from_document(document).resources) == MAX_RESOURCES
    # The same list twice: what counts is the request, not the memory that it takes.
    nested = [{"type": "node", "count": 1, "with": document["resources"]}]
    assert refusal({**document, "resources": nested}).path == "resources[0].with"


def test_an_error_reads_as_where_found_and_expected() -> None:
    document = with_value(full_document(), (*CORE, "count", "min"), "two")
    assert str(refusal(document)) == (
        "resources[0].with[0].with[0].count.min: found 'two', expected an integer of at least 1"
    )


def test_an_error_is_short_whatever_was_found() -> None:
    for value in ("x" * 10**6, 10**5000, [0] * 10**5, {"x" * 10**6: 1}):
        error = refusal(with_value(full_document(), COUNT, value))
        assert len(str(error)) < 300


def test_an_error_survives_pickling() -> None:
    error = refusal(None)
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
    assert (copied.path, str(copied)) == (error.path, str(error))


def test_the_values_can_be_imported_without_the_yaml_parser() -> None:
    program = "import sys, fluxnetes.jobspec.model; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
