"""Controllers for tests that need several of them, or a database of their own.

They play on the stage, whose own controller rests meanwhile. All that the candidates of one test
say is in one log.
"""

from __future__ import annotations

import asyncio
import itertools
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import asyncpg

from fluxnetes.plane.errors import RequestRefused
from fluxnetes.store.embedded.server import EmbeddedServer
from tests.integration.controller.space import Space
from tests.integration.controller.stage import TIMEOUTS, Stage
from tests.integration.store.servers import create_database, fetch

LEASE = "/apis/coordination.k8s.io/v1/namespaces/fluxnetes-system/leases/fluxnetes"
LONGEST_WAIT = 30.0
_numbers = itertools.count()


class Candidate:
    """The command `fluxnetes controller`, with a pipe that says when it leads."""

    def __init__(
        self,
        log: Path,
        options: Mapping[str, object],
        *,
        stalled_group: float = TIMEOUTS["stalled-group"],
    ) -> None:
        """Options as on the command line, with `_` for `-`."""
        self.log = log
        timeouts = {**TIMEOUTS, "stalled-group": stalled_group}
        line = [sys.executable, "-m", "fluxnetes", "controller"]
        line += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        line += [f"--timeout={name}={seconds}" for name, seconds in timeouts.items()]
        with log.open("a") as errors:
            self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=errors, bufsize=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def until_leads(self, seconds: float = LONGEST_WAIT) -> None:
        """Until it says so, once for each term."""
        assert self.leads_within(seconds), f"it does not lead\n{self.log.read_text()[-3000:]}"

    def leads_within(self, seconds: float) -> bool:
        said = self.process.stdout
        assert said is not None
        ready, _, _ = select.select([said], [], [], seconds)
        return bool(ready) and said.readline() == b"leading\n"

    def until_says(self, words: str, seconds: float = LONGEST_WAIT) -> None:
        """Until these words are in the log."""
        deadline = time.monotonic() + seconds
        while words not in self.log.read_text():
            assert time.monotonic() < deadline, f"{words!r} is not in\n{self.log.read_text()}"
            time.sleep(0.05)

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def until_over(self) -> int:
        """Its status, once it ended by itself."""
        status = self.process.wait(LONGEST_WAIT)
        with self.process:
            return status

    def stop(self) -> int:
        """Ask it to stop; its status."""
        self.process.terminate()
        return self.until_over()

    def kill(self) -> None:
        """Kill -9, also of one that is paused or over."""
        self.process.kill()
        with self.process:
            pass


class Theatre:
    """A stage without its controller, and its Postgres with any number of databases."""

    def __init__(self, stage: Stage, server: EmbeddedServer) -> None:
        self.stage = stage
        self._server = server

    def new_database(self) -> str:
        """The DSN of one that is empty."""
        return asyncio.run(create_database(self._server.dsn, f"candidates{next(_numbers)}"))

    @contextmanager
    def play(self) -> Iterator[Play]:
        """A test: a namespace and a database for it alone; all candidates are gone afterwards."""
        log = self.stage.folder / f"candidates{next(_numbers)}.log"
        log.touch()
        namespace = self.stage.open_space().namespace
        play = Play(self, Space(self.stage.api, namespace, log), log)
        try:
            yield play
        finally:
            for candidate in play.candidates:
                candidate.kill()
            with suppress(RequestRefused):  # the next one need not wait for a dead holder
                self.stage.api.delete(LEASE)
            play.space.clean()
            self.stage.tidy()


class Play:
    """What one test has."""

    def __init__(self, theatre: Theatre, space: Space, log: Path) -> None:
        self.stage, self.space, self.log = theatre.stage, space, log
        self.dsn = theatre.new_database()
        self.candidates: list[Candidate] = []

    def launch(self, identity: str, kubeconfig: Path | None = None, **options: object) -> Candidate:
        """One more, which may or may not lead in a while."""
        way = kubeconfig or self.stage.kubeconfig
        named = {"kubeconfig": way, "identity": identity, "dsn": self.dsn}
        one = Candidate(self.log, {**named, **options})
        self.candidates.append(one)
        return one

    def rows(self, query: str, *values: object) -> list[asyncpg.Record]:
        """What the database says."""
        return asyncio.run(fetch(self.dsn, query, *values))


@contextmanager
def a_theatre(stage: Stage) -> Iterator[Theatre]:
    server = EmbeddedServer(stage.folder / "store")
    server.start()
    stage.controller.stop()
    try:
        yield Theatre(stage, server)
    finally:
        server.stop()
        stage.controller.start()
