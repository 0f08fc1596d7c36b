"""Whatever comes in, a Jobspec or a JobspecError with the right path comes out."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from fluxnetes.jobspec import Jobspec, JobspecError, jobspec_from_document, parse_jobspec
from fluxnetes.jobspec.model import UINT_MAX
from tests.property.profile import examples
from tests.unit.jobspec.samples import RFC14, path_of, with_value

Keys = tuple[str | int, ...]
Strategy = st.SearchStrategy[Any]

# -- documents that are jobspecs -------------------------------------------------------------------

words = st.text("abcdefg-_0123456789.ü ", max_size=6)
numbers = st.integers(0, UINT_MAX)


@st.composite
def count_ranges(draw: st.DrawFn) -> dict[str, Any]:
    least = draw(st.integers(2, UINT_MAX))
    if draw(st.booleans()):
        return {"min": least}
    most = draw(st.integers(least, UINT_MAX))
    return {"min": least, "max": most, "operator": draw(st.sampled_from("+*^")), "operand": 2}


def resources(children: Strategy) -> Strategy:
    return st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(["slot", "node", "core"]),
                "count": numbers | count_ranges(),
                "label": words,
            },
            optional={"unit": words, "id": words, "exclusive": st.booleans(), "with": children},
        ),
        max_size=3,
    )


tasks = st.lists(
    st.fixed_dictionaries(
        {
            "command": st.lists(words, max_size=3),
            "slot": words,
            "count": st.fixed_dictionaries({"per_slot": numbers}),
        },
        optional={"distribution": words},
    ),
    max_size=2,
)
constraints: Strategy = st.recursive(
    st.fixed_dictionaries({"properties": st.lists(words)}),
    lambda inner: st.fixed_dictionaries({"and": st.lists(inner, max_size=2)}),
    max_leaves=4,
)
systems = st.fixed_dictionaries(
    {"duration": st.floats(0, 1e12) | st.integers(0, 10**9)},
    optional={"queue": words.filter(bool), "cwd": words, "constraints": constraints},
)
jobspecs = st.fixed_dictionaries(
    {
        "version": st.integers(1, 9999),
        "resources": st.recursive(resources(st.just([])), resources, max_leaves=6),
        "tasks": tasks,
        "attributes": st.fixed_dictionaries({"system": systems}),
    }
)


def meaning(jobspec: Jobspec) -> Jobspec:
    """The jobspec without what is opaque."""
    return dataclasses.replace(jobspec, attributes={})


@given(jobspecs)
def test_a_document_means_the_same_decoded_in_json_and_in_yaml(document: dict[str, Any]) -> None:
    jobspec = jobspec_from_document(document)
    assert jobspec.duration == document["attributes"]["system"]["duration"]
    assert len(jobspec.resources) == len(document["resources"])
    assert meaning(parse_jobspec(json.dumps(document))) == meaning(jobspec)
    assert meaning(parse_jobspec(yaml.safe_dump(document, allow_unicode=True))) == meaning(jobspec)


# -- one value changed -----------------------------------------------------------------------------

not_scalars: Strategy = st.none() | st.just([]) | st.just({})
not_mappings: Strategy = (
    st.none() | st.just([]) | st.integers() | st.text(max_size=3) | st.booleans()
)
not_lists: Strategy = st.none() | st.just({}) | st.integers() | st.text(max_size=3) | st.booleans()
not_integers: Strategy = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.just([])
    | st.integers(max_value=-1)
    | st.integers(2**32)
    | st.sampled_from(["", "two", "1.0", "1e3", " 1", "08", "1_0"])
)
not_seconds: Strategy = (
    not_scalars
    | st.booleans()
    | st.floats(max_value=0, exclude_max=True)
    | st.sampled_from([math.nan, math.inf, "1h", "inf", "nan", "", "1_0", " 1"])
)

BAD: dict[str, Strategy] = {
    "version": not_integers | st.just(0) | st.integers(10000),
    "resources": not_lists,
    "with": not_lists,
    "tasks": not_lists,
    "command": not_lists,
    "properties": not_lists,
    "and": not_lists,
    "attributes": not_mappings.filter(lambda value: value is not None),
    "system": not_mappings.filter(lambda value: value is not None),
    "constraints": not_mappings,
    "type": not_scalars,
    "label": not_scalars,
    "unit": not_scalars,
    "id": not_scalars,
    "slot": not_scalars,
    "distribution": not_scalars,
    "queue": st.just([]) | st.just({}),
    "cwd": st.just([]) | st.just({}),
    "exclusive": not_scalars | st.integers() | st.sampled_from(["yes", "True", ""]),
    "count": not_integers,
    "min": not_integers | st.just(0),
    "max": not_integers | st.just(0) | st.just(1),
    "operator": not_scalars | st.integers() | st.sampled_from(["", "-", "++"]),
    "operand": not_integers | st.just(0) | st.integers(2**31),
    "per_slot": not_integers,
    "duration": not_seconds,
}
"""Values that are wrong under a key, whatever stands beside it."""


def entries(value: Any, keys: Keys = ()) -> list[Keys]:
    """Where the entries of a document are that `BAD` has wrong values for."""
    inner = list(value.items() if isinstance(value, dict) else enumerate(value))
    found = [(*keys, key) for key, _ in inner if key in BAD]
    for key, child in inner:
        if isinstance(child, dict | list):
            found += entries(child, (*keys, key))
    return found


@given(jobspecs, st.data())
def test_one_wrong_value_is_refused_at_its_own_path(
    document: dict[str, Any], data: st.DataObject
) -> None:
    keys = data.draw(st.sampled_from(entries(document)))
    key = keys[-1]
    assert isinstance(key, str)
    value = data.draw(BAD[key])
    with pytest.raises(JobspecError) as caught:
        jobspec_from_document(with_value(document, keys, value))
    assert caught.value.path == path_of(keys)
    assert str(caught.value).startswith(f"{path_of(keys)}: found ")


@given(jobspecs, st.data(), st.text("xyz", min_size=1))
def test_one_unknown_key_is_refused_at_its_own_path(
    document: dict[str, Any], data: st.DataObject, name: str
) -> None:
    mappings: list[Keys] = [(), ("attributes",)]
    mappings += [keys[:-1] for keys in entries(document) if keys[-1] in ("type", "command", "min")]
    keys = (*data.draw(st.sampled_from(mappings)), name)
    with pytest.raises(JobspecError) as caught:
        jobspec_from_document(with_value(document, keys, 1))
    assert caught.value.path == path_of(keys)


# -- anything --------------------------------------------------------------------------------------


def read(text: str | bytes) -> None:
    try:
        assert isinstance(parse_jobspec(text), Jobspec)
    except JobspecError as error:
        assert str(error)


@given(st.text() | st.text("{}[]:,-&*!|>'\"#%@`? \n\tab01.~<=\\") | st.binary())
@example("{")
@example("*")
@example("? ? ?")
@example("\\ud800")
@example('{"a": "\\ud800"}')
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    read(text)


@given(st.data())
def test_a_jobspec_with_a_piece_cut_out_or_put_in_is_read_or_refused(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(RFC14)))
    end = data.draw(st.integers(start, len(RFC14)))
    piece = data.draw(st.text("{}[]:,-&*!'\"\n 01a", max_size=4))
    read(RFC14[:start] + piece + RFC14[end:])


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
known = st.sampled_from([*BAD, "user", "environment", "or", "not", "hostlist", "ranks"])
anything: Strategy = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(known | st.text(max_size=3), inner),
)


@examples(200)
@given(
    anything
    | st.fixed_dictionaries(
        dict.fromkeys(("resources", "tasks", "attributes"), anything) | {"version": st.just(1)}
    )
)
def test_any_document_is_read_or_refused(document: Any) -> None:
    try:
        jobspec_from_document(document)
    except JobspecError as error:
        assert str(error)
    if not isinstance(document, float):
        read(json.dumps(document))
