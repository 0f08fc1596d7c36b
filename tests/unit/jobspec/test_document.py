"""Text into plain values, and the texts that are refused before their meaning is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from fluxnetes.jobspec import JobspecError
from fluxnetes.jobspec import document as module
from fluxnetes.jobspec.document import MAX_DEPTH, MAX_LENGTH, check_document, decode_document


def refusal(text: str | bytes) -> JobspecError:
    with pytest.raises(JobspecError) as caught:
        check_document(decode_document(text))
    return caught.value


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test with the parser in C and with the one in Python, which stands in for it."""
    if not hasattr(yaml, request.param):
        pytest.skip(f"this PyYAML has no {request.param}")
    monkeypatch.setattr(module, "_LOADER", getattr(yaml, request.param))


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("4", 4),
        ("-4", -4),
        ("0", 0),
        ("0.5", 0.5),
        ("3600.0", 3600.0),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'null'", "null"),
        ('"4"', "4"),
        ("! 4", "4"),
        ("!!str 4", "4"),
        ("yes", "yes"),
        ("True", "True"),
        ("1.50", "1.50"),
        ("1e3", "1e3"),
        ("010", "010"),
        ("-0", "-0"),
        (".inf", ".inf"),
        ("9" * 400, "9" * 400),
        ("2001-01-01", "2001-01-01"),
        ("|\n  two\n  lines", "two\nlines"),
    ],
)
def test_a_scalar_becomes_a_number_only_where_it_prints_as_written(
    written: str, value: object
) -> None:
    decoded: Any = decode_document(f"key: {written}")
    assert decoded == {"key": value}
    assert type(decoded["key"]) is type(value)


@pytest.mark.usefixtures("loader")
def test_yaml_collections_and_aliases_are_read() -> None:
    text = "a: &x [1, {b: c}]\nd: *x\n? e\n: [[], {}]\n"
    assert decode_document(text) == {"a": [1, {"b": "c"}], "d": [1, {"b": "c"}], "e": [[], {}]}


def test_json_and_the_same_json_read_as_yaml_agree() -> None:
    value = {"a": [1, 2.5, "x", None, True, {"ü": "\n"}], "b": 0.1, "c": "1.50"}
    text = json.dumps(value)
    assert decode_document(text) == value
    assert decode_document("# a comment\n" + text) == value


def test_a_yaml_mapping_in_braces_is_read_although_it_is_no_json() -> None:
    assert decode_document("{a: 1, b: [c]}") == {"a": 1, "b": ["c"]}


def test_tags_construct_nothing() -> None:
    text = "!!python/object/apply:os.system [exit]"
    assert decode_document(text) == ["exit"]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: 1\nb: 2\na: 3", "a"),
        ("a: [{b: 1, b: 1}]", "a[0].b"),
        ('{"a": {"b": 1, "b": 1}}', "a.b"),
        ("'': {x y: 1, x y: 1}", "['']['x y']"),
    ],
)
def test_the_same_key_twice_is_refused_where_it_stands(text: str, path: str) -> None:
    error = refusal(text)
    assert (error.path, error.found) == (path, "this key a second time")


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "a: b: c",
        '{"a": 1',
        "\tx: 1",
        "%",
        "a: *nowhere",
        "&a [*a]",
        "? [a]\n: b",
        "{*a : 1}",
    ],
)
def test_a_syntax_error_is_a_jobspec_error(text: str) -> None:
    refusal(text)


def test_a_syntax_error_says_where() -> None:
    assert "line 2, column 1" in refusal("a: [1,\n").found


@pytest.mark.parametrize("text", [b"\xff", "\ud800", "a\x00b", "a: \x01", b"a: \xc3"])
def test_what_is_no_text_is_refused(text: str | bytes) -> None:
    assert refusal(text).path == ""


def test_a_second_document_is_refused() -> None:
    assert decode_document("---\na: 1\n...\n") == {"a": 1}
    assert refusal("a: 1\n---\nb: 2\n").found == "a second document"


@pytest.mark.parametrize("text", ["", "# only a comment\n", b"", "---\n"])
def test_an_empty_text_is_null(text: str | bytes) -> None:
    assert decode_document(text) is None


@pytest.mark.parametrize("filler", ["x", b"x", "[", "{"])
def test_a_text_above_the_length_limit_is_refused_unread(filler: str | bytes) -> None:
    assert "length" in refusal(filler * (MAX_LENGTH + 1)).found


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}"), ('{"a":', "}")])
def test_nesting_is_read_to_the_limit_and_refused_beyond(opening: str, closing: str) -> None:
    decode_document(opening * MAX_DEPTH + "1" + closing * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 500, 20_000):
        assert refusal(opening * depth + "1" + closing * depth).found == "another level of nesting"


def test_a_document_that_holds_itself_is_refused() -> None:
    document: dict[str, object] = {}
    document["again"] = [document]
    with pytest.raises(JobspecError, match="another level of nesting"):
        check_document(document)


def test_aliases_cannot_multiply_few_values_into_many() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert refusal("\n".join(lines)).found == "too many values"


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_VALUES", 100)
    assert refusal("- x\n" * 101).path == "[100]"
    assert refusal("a: &a x\nb:\n" + "- *a\n" * 101).path == "b[99]"
    assert refusal(json.dumps({"a": {"b": [0] * 101}})).path == "a.b"


@pytest.mark.parametrize("key", [1, None, True, ("a",), 1.5])
def test_a_key_that_is_no_text_is_refused(key: object) -> None:
    with pytest.raises(JobspecError, match="keys that are text") as caught:
        check_document({"a": [{key: 1}]})
    assert caught.value.path == "a[0]"
