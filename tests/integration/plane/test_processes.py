"""What an earlier start has left is ended by the next, and nothing else is."""

from __future__ import annotations

import fcntl
import socket
import subprocess
from pathlib import Path

import pytest

from fluxnetes.plane.errors import PlaneFailed
from fluxnetes.plane.paths import PlanePaths, choose_ports, make_paths
from fluxnetes.plane.processes import FolderLock, Program, ProgramRun


def test_a_program_that_was_left_is_ended_and_a_stranger_is_not(folder: Path) -> None:
    paths = make_paths(folder)
    with paths.programs_lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        left = subprocess.Popen(["sleep", "1000"], pass_fds=(lock.fileno(),))
    with subprocess.Popen(["sleep", "1000"]) as stranger:
        ours = _take(paths)
        assert left.wait() == -9
        assert stranger.poll() is None
        stranger.kill()
    ours.release()


def test_a_folder_has_one_owner(folder: Path) -> None:
    paths = make_paths(folder)
    first = _take(paths)
    with pytest.raises(PlaneFailed, match="stop that one, or use another folder"):
        _take(paths)
    first.release()
    _take(paths).release()


def test_a_program_that_ends_at_once_says_its_last_words(folder: Path) -> None:
    paths = make_paths(folder)
    lock = _take(paths)
    program = Program("talker", ("sh", "-c", "echo no such luck; exit 7"), lambda: False)
    process = ProgramRun(program, paths.log("talker"), paths.top, lock.programs)
    with pytest.raises(PlaneFailed, match=r"talker ended \(status 7\)(?s:.*)no such luck"):
        process.wait_until_ready()
    lock.release()


def test_a_program_that_does_not_answer_is_given_up(folder: Path) -> None:
    paths = make_paths(folder)
    lock = _take(paths)
    program = Program("mute", ("sleep", "1000"), lambda: False)
    process = ProgramRun(program, paths.log("mute"), paths.top, lock.programs)
    with pytest.raises(PlaneFailed, match="mute is not ready after 0 s"):
        process.wait_until_ready(timeout=0)
    process.stop()
    assert process.status == -15
    lock.release()


def test_ports_stay_from_start_to_start_unless_they_are_taken(folder: Path) -> None:
    paths = make_paths(folder)
    first = choose_ports(paths, ("a", "b"))
    assert len(set(first.values())) == 2
    assert choose_ports(paths, ("a", "b")) == first
    with _listening(first["a"]):
        second = choose_ports(paths, ("a", "b"))
    assert second["a"] != first["a"] and second["b"] == first["b"]


def test_the_folder_is_for_its_owner_alone(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    assert make_paths(folder).top.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_is_refused(folder: Path) -> None:
    folder.write_text("a file")
    with pytest.raises(PlaneFailed, match="use a folder of your own"):
        make_paths(folder / "below")


def _take(paths: PlanePaths) -> FolderLock:
    lock = FolderLock(paths.owner_lock, paths.programs_lock)
    lock.take()
    return lock


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", port))
    listener.listen()
    return listener
