"""The whole controller, without a server and on a clock of its own.

    with Play(a_node("n1"), a_node("n2")) as play:
        play.put(a_job("train", pods=2))
        play.settle()
        assert play.on("n1") == ...

The controller is the real one with its real rounds. In place of the API server there is a cluster
in memory, in place of Postgres a store in memory, and its hands are slow or unlucky as the play
says. News come when the play brings them: by default at once, for a kind that `lags` later. The
store's commit is the one place where a round waits; `meanwhile` happens there.

A play is a model for tests of everything that may happen in any order. That the model is right is
for the tests on a real control plane to say (`tests/integration/controller`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any, TypeVar, cast
from unittest.mock import patch

from fluxnetes.cluster.machines import Machines
from fluxnetes.cluster.world import World
from fluxnetes.controller import controller as controller_module
from fluxnetes.controller import term
from fluxnetes.controller.controller import Controller
from fluxnetes.controller.desk import Desk, Settings
from fluxnetes.controller.following import Following
from fluxnetes.kube.cache import Change
from fluxnetes.kube.client import Client
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.queue.config import Config, QueueConfig
from fluxnetes.queue.validate import Validator
from fluxnetes.store.store import Store
from tests.unit.controller.cluster import Cluster, News
from tests.unit.controller.memory import Memory
from tests.unit.controller.palms import Palms

T = TypeVar("T")

PATIENCE = Settings(keep_seat=5.0, stall=6.0, homeless=2.0, grace=3.0, collision=2.0)
CONFIG = Config(queues=(QueueConfig(grace=2),))
MOST_STEPS = 150
"""Whoever needs more within one second goes in a circle."""


class Crash(Exception):  # noqa: N818 - it is what happens
    """The controller is gone in the middle of a round, and perhaps the database with it."""

    def __init__(self, empty: bool = False) -> None:
        super().__init__(empty)
        self.empty = empty


class Clock:
    """In place of the module `time`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def time(self) -> float:
        return float(self._cluster.now)

    def monotonic(self) -> float:
        return float(self._cluster.now - 1_000_000_000)


class Play:
    """See the module's docstring."""

    def __init__(
        self, *nodes: Node, settings: Settings = PATIENCE, config: Config = CONFIG
    ) -> None:
        self.cluster = Cluster()
        self.clock = Clock(self.cluster)
        self.store = Memory()
        self.options = term.Options("play", settings=settings, config=config)
        self.lags: set[str] = set()
        """Kinds of which no news come."""
        self.meanwhile: Callable[[], None] = lambda: None
        """What happens while a round waits for its commit, once."""
        self.is_writing = False
        self.looked: Callable[[], None] = lambda: None
        """Told after every round."""
        self._patches = ExitStack()
        for node in nodes:
            self.cluster.put(node)

    def __enter__(self) -> Play:
        for module in (controller_module, term):
            self._patches.enter_context(patch.object(module, "time", self.clock))
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    # -- a term --------------------------------------------------------------------------------

    def start(self) -> None:
        """A term begins, from what the store and the cluster say."""
        self.cluster.news.clear()
        world, wake = World(Machines()), asyncio.Event()
        self.following = Following(cast(Client, None), world, wake)
        self._takers = {each.resource.plural: take for each, take in self.following._takers}
        for news in self.cluster.everything():
            self._take(news)
        world.machines.put(self.following.take_nodes()[0])
        self.hands = Palms(self.cluster, self.clock.monotonic)
        self.store.before_commit = self._be_meanwhile
        with patch.object(term, "Hands", lambda client, may_write: self.hands):
            self.controller: Controller = finish(self._begin())

    def _begin(self) -> Coroutine[Any, Any, Controller]:
        store = cast(Store, self.store)
        return term._begin(cast(Client, None), store, self.options, self.following, lambda: True, 1)

    def restart(self, *, empty: bool = False) -> None:
        """The controller is killed, and another one starts; perhaps the database is gone, too.

        What its hands had begun may still be done.
        """
        flights = self.hands
        if empty:
            self.store = Memory()
        self.start()
        flights.asked.clear()
        flights.bound = lambda bind: None
        while flights.work():
            pass

    def _be_meanwhile(self) -> None:
        happen, self.meanwhile = self.meanwhile, lambda: None
        self.is_writing = True
        try:
            happen()
        finally:
            self.is_writing = False
        self.deliver()

    @property
    def desk(self) -> Desk:
        return self.controller.desk

    # -- time ----------------------------------------------------------------------------------

    def wait(self, seconds: int = 1) -> None:
        """Let time pass, and everything come to rest in every second of it."""
        for _ in range(seconds):
            self.cluster.pass_time()
            self.settle()

    def settle(self) -> None:
        """Round after round until nothing happens any more without time passing."""
        for _ in range(MOST_STEPS):
            if not self.step():
                self._validate()
                return
        raise AssertionError(f"it goes in a circle: {self.hands.asked}")

    def _validate(self) -> None:
        """From now on. The rules of jobs whose objects are gone are known to nobody after a
        restart, and what they hold is not where they may be, until they are told to go."""
        scheduler = self.desk.scheduler
        if scheduler._validator is None:
            scheduler._validator = Validator(scheduler._core)
            scheduler._validator.tolerate()

    def step(self) -> bool:
        """News, a round, a step of the hands and of the controllers; False: nothing happened."""
        heard = self.deliver()
        wake = self.following.wake
        awake = wake.is_set()
        wake.clear()
        finish(self.controller._round())
        self.looked()
        busy = self.hands.work()
        self.cluster.control()
        return heard or awake or busy or wake.is_set() or bool(self._fresh())

    # -- news ----------------------------------------------------------------------------------

    def deliver(self) -> bool:
        """Bring what happened to the controller; False: there was nothing."""
        fresh = self._fresh()
        self.cluster.news = [each for each in self.cluster.news if each.kind in self.lags]
        for news in fresh:
            self._take(news)
        return bool(fresh)

    def _fresh(self) -> list[News]:
        return [each for each in self.cluster.news if each.kind not in self.lags]

    def _take(self, news: News) -> None:
        self._takers[news.kind](Change(news.change, news.object))


def finish(running: Coroutine[Any, Any, T]) -> T:
    """Run what never really waits."""
    try:
        running.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    raise AssertionError("it waits for something that only time can bring")
