"""resource-query at a terminal: prompt, history, completion, and a way out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluxnetes.cli.resource_query.prompt import completions
from tests.integration.cli.terminal import PATIENCE, PROMPT, Terminal

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal("-L", "cluster.graphml", "-P", "lonode", cwd=EXAMPLES, state=tmp_path)
    yield terminal
    terminal.close()


def test_a_person_is_greeted_prompted_and_answered(terminal: Terminal) -> None:
    assert "cluster.graphml: 203 vertices" in terminal.wait_for(PROMPT)
    terminal.type("match allocate jobs/one-core.yaml\n")
    assert "RESOURCES=ALLOCATED" in terminal.wait_for(PROMPT)
    terminal.type("quit\n")
    assert terminal.process.wait(PATIENCE) == 0


def test_a_misspelt_command_is_put_right(terminal: Terminal) -> None:
    terminal.wait_for(PROMPT)
    terminal.type("cancle 1\n")
    assert "did you mean 'cancel'?" in terminal.wait_for(PROMPT)


def test_ctrl_d_ends_the_session(terminal: Terminal) -> None:
    terminal.wait_for(PROMPT)
    terminal.type("\x04")
    assert terminal.process.wait(PATIENCE) == 0


def test_ctrl_c_drops_the_line_not_the_session(terminal: Terminal) -> None:
    terminal.wait_for(PROMPT)
    terminal.type("match alloc")
    terminal.wait_for("match alloc")
    terminal.interrupt()
    terminal.wait_for(PROMPT)
    terminal.type("help quit\n")
    assert "End the session" in terminal.wait_for(PROMPT)


def test_tab_completes_a_command(terminal: Terminal) -> None:
    terminal.wait_for(PROMPT)
    terminal.type("he\tquit\n")
    assert "End the session" in terminal.wait_for(PROMPT)


def test_history_outlives_the_session(tmp_path: Path) -> None:
    for commands in ("list\nquit\n", "stat\nquit\n"):
        terminal = Terminal("-L", "cluster.graphml", cwd=EXAMPLES, state=tmp_path)
        terminal.wait_for(PROMPT)
        terminal.type(commands)
        terminal.wait_for_end()
        terminal.close()
    history = (tmp_path / "fluxnetes" / "resource-query.history").read_text().split()
    assert [word for word in history if word in ("list", "stat")] == ["list", "stat"]


def test_without_a_prompt_nothing_but_answers_is_shown(tmp_path: Path) -> None:
    terminal = Terminal("-L", "cluster.graphml", "-d", cwd=EXAMPLES, state=tmp_path)
    terminal.type("help quit\n")
    shown = terminal.wait_for("End the session")
    terminal.close()
    assert PROMPT not in shown
    assert "vertices" not in shown


def test_the_first_word_completes_to_a_command() -> None:
    assert completions("par", "par") == ["partial-cancel "]
    assert completions("set", "set") == ["set-property ", "set-status "]


def test_the_second_word_completes_to_an_operation() -> None:
    assert completions("match sat", "sat") == ["satisfiability "]


def test_later_words_complete_to_files(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "job.yaml").touch()
    typed = f"{tmp_path}/jo"
    found = completions(f"match allocate {typed}", typed)
    assert found == [f"{tmp_path}/job.yaml", f"{tmp_path}/jobs/"]
