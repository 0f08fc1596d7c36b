"""An executor for plays: actions take time, fail, or succeed without an answer.

It stands for the queue of actions and for the executor, one step at a time and without a server:
what is requested twice is done once, what fails temporarily stays requested, what was just done is
not done again. How each action goes is drawn by the play (`Luck`).
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from fluxnetes.controller.actions.executor import ActionObserver, WriteLease
from fluxnetes.controller.actions.queue import _JUST_DONE, ActionQueue, bind_key, key_of
from fluxnetes.controller.actions.types import Action, BindPod, ChangeWorkload
from fluxnetes.kube.client import KubeClient
from tests.unit.controller.cluster import Cluster, Refused


class Luck(enum.Enum):
    """How an action goes."""

    GOOD = "done and answered"
    SLOW = "done two steps later"
    BAD = "not done; tried again"
    MUTE = "done, but the answer is lost; tried again"
    STUCK = "neither done nor given up for a long time"


_ENOUGH = 3
_STEPS = {Luck.SLOW: 2, Luck.STUCK: 12}


@dataclass
class _Flight:
    action: Action
    luck: Luck
    steps: int


@dataclass
class FakeExecutor:
    """What the controller has in place of `ActionQueue` and `Executor`."""

    cluster: Cluster
    clock: Callable[[], float]
    takes_off: Callable[[BindPod], None] = field(default=lambda bind: None)
    """Called when a bind is in flight."""
    lands: Callable[[BindPod], None] = field(default=lambda bind: None)
    """Called when a bind is done."""
    luck: deque[Luck] = field(default_factory=deque)
    """How the next actions go; then all go well."""
    expects_more: bool = False
    requested: dict[Hashable, Action] = field(default_factory=dict)
    _observer: ActionObserver | None = None
    _hold_back: Callable[[str], bool] = field(default=lambda node: False)
    _flights: dict[Hashable, _Flight] = field(default_factory=dict)
    _done: dict[Hashable, tuple[Action, float]] = field(default_factory=dict)

    def connect(
        self,
        client: KubeClient,
        actions: ActionQueue,
        *,
        lease: WriteLease,
        observer: ActionObserver,
        hold_back: Callable[[str], bool],
    ) -> FakeExecutor:
        """In place of the constructor of `Executor`."""
        self._observer, self._hold_back = observer, hold_back
        return self

    def disconnect(self) -> None:
        """The controller was killed: only actions in flight may still be done."""
        self.requested.clear()
        self._observer = None

    # -- what the controller requests ----------------------------------------------------------

    def request(self, action: Action) -> None:
        key = key_of(action)
        done = self._done.get(key)
        is_new = done is None or done[0] != action or self.clock() - done[1] >= _JUST_DONE
        if key not in self.requested and not is_new:
            return
        self.requested[key] = action

    def revoke_bind(self, uid: str) -> None:
        self.requested.pop(bind_key(uid), None)

    def expect_more(self, expected: bool) -> None:
        self.expects_more = expected

    def is_binding_job(self, job: int) -> bool:
        return any(bind.job == job for bind in self._binds())

    def is_binding_pod(self, uid: str) -> bool:
        return any(bind.uid == uid for bind in self._binds())

    def is_idle(self) -> bool:
        return not any(isinstance(action, BindPod) for action in self.requested.values())

    def is_full(self) -> bool:
        return sum(isinstance(action, BindPod) for action in self.requested.values()) >= _ENOUGH

    def _binds(self) -> list[BindPod]:
        actions = (flight.action for flight in self._flights.values())
        return [action for action in actions if isinstance(action, BindPod)]

    # -- working -------------------------------------------------------------------------------

    def work(self) -> bool:
        """One step of all that is under way; False: there was nothing to do."""
        for key, action in self.requested.items():
            if key not in self._flights:
                self._take_off(key, action)
        busy = bool(self._flights)
        for key, flight in list(self._flights.items()):
            if flight.steps:
                flight.steps -= 1
            else:
                self._land(key, flight)
        return busy

    def _take_off(self, key: Hashable, action: Action) -> None:
        if isinstance(action, BindPod):
            if self._hold_back(action.node):
                return
            self.takes_off(action)
        luck = self.luck.popleft() if self.luck else Luck.GOOD
        self._flights[key] = _Flight(action, luck, _STEPS.get(luck, 0))

    def _land(self, key: Hashable, flight: _Flight) -> None:
        action = flight.action
        if flight.luck is not Luck.BAD:
            try:
                self._do(action)
            except Refused:
                del self._flights[key]
                self._over(key, action)
                return
        del self._flights[key]
        if flight.luck in (Luck.BAD, Luck.MUTE):
            return
        if isinstance(action, BindPod) and self._observer is not None:
            self._observer.pod_bound(action)
        self._over(key, action)

    def _over(self, key: Hashable, action: Action) -> None:
        if self.requested.get(key) is action:
            del self.requested[key]
            self._done[key] = (action, self.clock())

    def _do(self, action: Action) -> None:
        cluster = self.cluster
        if isinstance(action, BindPod):
            cluster.bind(action.uid, action.node, action.job, action.task)
            self.lands(action)
        elif isinstance(action, ChangeWorkload) and action.kind == "JobSet":
            cluster.patch_job_set(action.uid, action.content)
        elif isinstance(action, ChangeWorkload) and action.uid in cluster.services:
            cluster.patch_service(action.uid, action.content)
        elif isinstance(action, ChangeWorkload):
            cluster.patch_job(action.uid, action.content)
        elif action.delete:
            cluster.delete_pod(action.uid)
        else:
            cluster.set_deadline(action.uid, 1)
