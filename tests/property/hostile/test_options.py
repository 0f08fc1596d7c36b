"""Numbers on command lines: each option names its limits, and a value beyond them is refused."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cli.entry import SUBCOMMANDS, main
from fluxnetes.cli.resource_query.session import CommandError, whole_number
from fluxnetes.cli.simulate.checks import size_and_walltime
from tests.property.hostile.documents import EXTREMES
from tests.property.profile import examples

NUMBERS = (int, float)


def numeric_options() -> list[Any]:
    found = []
    for subcommand in SUBCOMMANDS:
        module = import_module(f"{subcommand.module}.options")
        if hasattr(module, "app"):  # resource-query has no option that is a number
            command = typer.main.get_command(module.app)
            for option in command.params:
                if option.type_descriptor.annotation in NUMBERS:  # type: ignore[attr-defined]
                    id = f"{subcommand.name} {option.opts[0]}"
                    found.append(pytest.param(subcommand.name, option, id=id))
    return found


OPTIONS = numeric_options()


def test_there_are_numbers_to_test() -> None:
    assert len(OPTIONS) > 12


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_a_number_beyond_the_limits_of_an_option_is_refused(
    command: str, option: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert option.min is not None
    assert option.max is not None
    beyond = (option.min - 1, option.max + 1, *EXTREMES, "1e300", "nan", "inf", "-inf", "9" * 5000)
    for value in (v for v in beyond if isinstance(v, str) or not option.min <= v <= option.max):
        assert main([command, f"{option.opts[0]}={value}"]) == 2, value
        printed = capsys.readouterr()
        assert printed.out == ""
        assert option.opts[0] in printed.err


@examples(100)
@given(st.text("0123456789:-+e.x٣²", max_size=12) | st.sampled_from(["1:" + "9" * 5000, "²:1"]))
def test_a_job_to_add_is_read_or_refused(text: str) -> None:
    try:
        size, walltime = size_and_walltime(text)
    except typer.BadParameter as error:
        assert len(str(error)) < 200
    else:
        assert (str(size), str(walltime)) == tuple(word.lstrip("0") for word in text.split(":"))


@examples(100)
@given(st.integers().map(str) | st.sampled_from(["9" * 5000, "x", "²", "٣", "-" + "9" * 40]))
def test_a_number_of_a_command_is_read_or_refused(word: str) -> None:
    try:
        number = whole_number(word, "jobid")
    except CommandError as error:
        assert len(str(error)) < 200
    else:
        assert abs(number) < 2**63
