"""The whole controller, without a server and on a clock of its own.

    with Play(machine("n1"), machine("n2")) as play:
        play.put(a_job("train", pods=2))
        assert play.where("train") == ["n1", "n1"]

The controller is the real one with its real rounds. In place of the API server there is a cluster
in memory, in place of Postgres a store in memory, and its executor is slow or unlucky as the play
says. News come when the play brings them: by default at once, for a kind that `lags` later. The
store's commit is the one place where a round waits; `meanwhile` happens there.

A play is a model for tests of everything that may happen in any order. That the model is right is
for the tests on a real control plane to say (`tests/integration/controller`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from math import inf
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from unittest.mock import patch

from fluxnetes.cluster.labels.names import GROUP
from fluxnetes.cluster.model import ClusterModel
from fluxnetes.cluster.node_graph import NodeGraph
from fluxnetes.cluster.pods.reader import PodReader
from fluxnetes.controller import loop as controller_module
from fluxnetes.controller import observation
from fluxnetes.controller.leadership import terms
from fluxnetes.controller.leadership.recovery import zones_of
from fluxnetes.controller.loop import Controller
from fluxnetes.controller.state import ControllerSettings, ControllerState
from fluxnetes.controller.watchers import Watchers
from fluxnetes.kube.cache import ChangeKind, ObjectChange
from fluxnetes.kube.client import KubeClient, Listing
from fluxnetes.kube.objects.base import Object
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.kube.objects.pods import Pod
from fluxnetes.queue.config import QueueConfig, SchedulerConfig
from fluxnetes.queue.persist.validate import Validator
from fluxnetes.store.store import Store
from tests.unit.controller.cluster import Cluster, News
from tests.unit.controller.fake_executor import FakeExecutor
from tests.unit.controller.memory import Memory

T = TypeVar("T")

TIMEOUTS = ControllerSettings(
    replacement_pod=5.0,
    stalled_group=6.0,
    retry_delay=4.0,
    orphan_pod=2.0,
    forced_delete=3.0,
    incomplete=4.0,
    dependent_pod=20.0,
    node_conflict=2.0,
)
CONFIG = SchedulerConfig(queues=(QueueConfig(grace=2),))
MOST_STEPS = 150
"""Maximum steps within one second; a controller that needs more goes in a circle."""


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

    def process_time(self) -> float:
        return 0.0


class Play:
    """See the module's docstring."""

    def __init__(
        self,
        *nodes: Node,
        settings: ControllerSettings = TIMEOUTS,
        config: SchedulerConfig = CONFIG,
    ) -> None:
        self.cluster = Cluster()
        self.clock = Clock(self.cluster)
        self.store = Memory()
        self.options = terms.CandidateOptions("play", settings=settings, config=config)
        self.lags: set[str] = set()
        """Kinds of which no news come."""
        self.meanwhile: Callable[[], object] = lambda: None
        """What happens while a round waits for its commit, once."""
        self.is_writing = False
        self.looked: Callable[[], None] = lambda: None
        """Called after every round."""
        self._patches = ExitStack()
        for node in nodes:
            self.cluster.put(node)

    def __enter__(self) -> Play:
        for module in (controller_module, observation, terms):
            self._patches.enter_context(patch.object(module, "time", self.clock))
        # So few that it happens here, too, that a cycle is cut short and new jobs come later, and
        # that a round does not look at all groups.
        self._patches.enter_context(patch.object(controller_module, "_AT_ONCE", 2))
        self._patches.enter_context(patch.object(controller_module, "_LOOK_AT_ONCE", 3))
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    # -- a term --------------------------------------------------------------------------------

    def start(self) -> None:
        """A term begins, from what the store and the cluster say."""
        self.cluster.news.clear()
        model, wake = ClusterModel(NodeGraph()), asyncio.Event()
        self.watchers = Watchers(cast(KubeClient, None), model, wake)
        self._watches = {each.resource.type: (each, take) for each, take in self.watchers._handlers}
        self._list_all()
        model.node_graph.keep_zones(zones_of(finish(self.store.system())))
        model.node_graph.put(self.watchers.take_nodes()[0])
        self.executor = FakeExecutor(self.cluster, self.clock.monotonic)
        self.store.before_commit = self._be_meanwhile
        with (
            patch.object(terms, "ActionQueue", lambda: self.executor),
            patch.object(terms, "Executor", self.executor.connect),
        ):
            self.controller: Controller = finish(self._begin())

    async def _begin(self) -> Controller:
        store = cast(Store, self.store)
        leads: Any = SimpleNamespace(sure_for=lambda: inf, lease=SimpleNamespace(fence=1))
        client, before = cast(KubeClient, None), await store.system()
        candidate = terms._Candidate(client, store, self.options, "", terms._nothing, before)
        term, stored = terms._Term(candidate, leads, leads), await store.load()
        reader = PodReader(self.watchers.model, self.watchers.storage)
        parts = await terms._begin(term, self.watchers, reader, stored, before)
        return parts.controller

    def restart(self, *, empty: bool = False) -> None:
        """The controller is killed, and another one starts; perhaps the database is gone, too.

        Actions that were in flight may still be done.
        """
        flights = self.executor
        if empty:
            self.store = Memory()
        self.start()
        flights.disconnect()
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
    def shared(self) -> ControllerState:
        return self.controller.shared

    # -- what tests do and ask -----------------------------------------------------------------

    def put(self, *objects: Object) -> None:
        """Users write these objects; everything comes to rest."""
        for each in objects:
            self.cluster.put(each)
        self.settle()

    def drop(self, *objects: Object) -> None:
        """These are gone."""
        for each in objects:
            self.cluster.drop(each)
        self.settle()

    def patch(self, job: str, content: dict[str, Any]) -> None:
        """A user changes a Job; everything comes to rest."""
        self.cluster.patch_job(_uid_of(self.cluster, job), content)
        self.settle()

    def pods(self, name: str) -> list[Pod]:
        """Those that are not over, of a workload, a group label, or a name of their own."""
        live = (pod for pod in self.cluster.pods.values() if not pod.is_over)
        return [pod for pod in live if name in _names(pod)]

    def where(self, name: str) -> list[str]:
        """The nodes of those; nothing stands for one that is not bound."""
        return sorted(pod.spec.node_name for pod in self.pods(name))

    def end(self, *pods: Pod, ok: bool = True) -> None:
        """Pods end; everything comes to rest."""
        for pod in pods:
            self.cluster.end_pod(pod.metadata.uid, "Succeeded" if ok else "Failed")
        self.settle()

    def states(self) -> list[str]:
        """Of all jobs that the queue had, in order."""
        jobs = sorted(self.shared.scheduler.jobs.values(), key=lambda job: job.id)
        return [job.state.value for job in jobs]

    # -- time ----------------------------------------------------------------------------------

    def wait(self, seconds: int = 1) -> None:
        """Let time pass, and everything come to rest in every second of it."""
        for _ in range(seconds):
            self.cluster.pass_time()
            self.settle()

    def settle(self) -> None:
        """Round after round until nothing happens any more without time passing."""
        for _ in range(MOST_STEPS):
            if self.step():
                continue
            if (
                self.shared.unwritten_since is not None
            ):  # part of a second, of which plays have none
                self.shared.unwritten_since -= 1
                continue
            self._validate()
            return
        raise AssertionError(f"it goes in a circle: {self.executor.requested}")

    def _validate(self) -> None:
        """Validate the queue from now on.

        After a restart the rules of jobs whose objects are gone are unknown, so what they hold is
        not where they may be until they have ended.
        """
        scheduler = self.shared.scheduler
        if scheduler._validator is None:
            scheduler._validator = Validator(scheduler._core)
            scheduler._validator.tolerate()

    def step(self) -> bool:
        """News, a round, a step of the executor and of the controllers; False: nothing happened."""
        happened = self.look()
        busy = self.executor.work()
        self.cluster.control()
        waits = self.watchers.wake.is_set() or self.executor.expects_more
        return happened or busy or waits or bool(self._fresh())

    def look(self) -> bool:
        """News and a round; False: there were none."""
        has_news = self.deliver()
        wake = self.watchers.wake
        awake = wake.is_set()
        wake.clear()
        finish(self.controller._round())
        self.looked()
        return has_news or awake

    # -- news ----------------------------------------------------------------------------------

    def deliver(self) -> bool:
        """Bring what happened to the controller; False: there was nothing."""
        if not all(each.is_complete for each in self.watchers.required()):
            if not self.lags:
                self._list_all()
                self.cluster.news.clear()
            return True
        fresh = self._fresh()
        self.cluster.news = [each for each in self.cluster.news if each.kind in self.lags]
        for news in fresh:
            self._take(news)
        return bool(fresh)

    def _list_all(self) -> None:
        """Everything is listed, as after a gap; what is gone since is noticed, too."""
        for informer, handle in self.watchers._handlers:
            plural = informer.resource.plural
            type = informer.resource.type
            known = (n.object for n in self.cluster.everything() if n.kind == plural)
            listed = [each for each in known if isinstance(each, type)]
            handle(informer._cache.replace(Listing(listed, "1")))
            informer.is_complete = True

    def _fresh(self) -> list[News]:
        return [each for each in self.cluster.news if each.kind not in self.lags]

    def _take(self, news: News) -> None:
        informer, handle = self._watches[type(news.object)]
        if news.change is ChangeKind.DELETED:
            informer._cache.objects.pop(news.object.key, None)
        else:
            informer._cache.objects[news.object.key] = news.object
        handle([ObjectChange(news.change, news.object)])


def _uid_of(cluster: Cluster, job: str) -> str:
    return next(uid for uid, each in cluster.jobs.items() if each.metadata.name == job)


def _names(pod: Pod) -> tuple[str, ...]:
    """Pods of a Deployment are known by a label, since their ReplicaSet made them."""
    owner = pod.metadata.controller
    made_by = owner.name if owner is not None else ""
    labels = pod.metadata.labels
    return pod.metadata.name, labels.get(GROUP, ""), labels.get("of", ""), made_by


def finish(running: Coroutine[Any, Any, T]) -> T:
    """Run what never really waits."""
    try:
        running.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    raise AssertionError("it waits for something that only time can bring")
