"""Hands for plays: deeds take their time, fail, or succeed without anybody hearing of it.

They do what `controller.hands` does, one step at a time and without a server: what is asked for
twice is done once, what fails for the moment stays asked for, what was done just now is not done
again. How each deed goes is drawn by the play (`Luck`).
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from fluxnetes.controller.actions.executor import _JUST_NOW, _key
from fluxnetes.controller.actions.types import Action, BindPod, ChangeWorkload
from tests.unit.controller.cluster import Cluster, Refused


class Luck(enum.Enum):
    """How a deed goes."""

    GOOD = "done, and heard of"
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
class Palms:
    """What the controller has in place of its hands."""

    cluster: Cluster
    clock: Callable[[], float]
    takes_off: Callable[[BindPod], None] = field(default=lambda bind: None)
    """Told when a bind is on its way."""
    lands: Callable[[BindPod], None] = field(default=lambda bind: None)
    """Told when a bind is done."""
    bound: Callable[[BindPod], None] = field(default=lambda bind: None)
    hold_back: Callable[[str], bool] = field(default=lambda node: False)
    failed: Callable[[Action, str], None] = field(default=lambda action, why: None)
    luck: deque[Luck] = field(default_factory=deque)
    """How the next deeds go; then all go well."""
    expects: bool = False
    asked: dict[Hashable, Action] = field(default_factory=dict)
    _flights: dict[Hashable, _Flight] = field(default_factory=dict)
    _done: dict[Hashable, tuple[Action, float]] = field(default_factory=dict)

    # -- what the controller asks --------------------------------------------------------------

    def ask(self, action: Action) -> None:
        key = _key(action)
        done = self._done.get(key)
        is_new = done is None or done[0] != action or self.clock() - done[1] >= _JUST_NOW
        if key not in self.asked and not is_new:
            return
        self.asked[key] = action

    def revoke(self, uid: str) -> None:
        self.asked.pop(("bind", uid), None)

    def is_binding(self, job: int) -> bool:
        return any(bind.job == job for bind in self._binds())

    def is_flying(self, uid: str) -> bool:
        return any(bind.uid == uid for bind in self._binds())

    def is_idle(self) -> bool:
        return not any(isinstance(action, BindPod) for action in self.asked.values())

    def are_full(self) -> bool:
        return sum(isinstance(action, BindPod) for action in self.asked.values()) >= _ENOUGH

    def _binds(self) -> list[BindPod]:
        actions = (flight.action for flight in self._flights.values())
        return [action for action in actions if isinstance(action, BindPod)]

    # -- working -------------------------------------------------------------------------------

    def work(self) -> bool:
        """One step of all that is under way; False: there was nothing to do."""
        for key, action in self.asked.items():
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
            if self.hold_back(action.node):
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
        if isinstance(action, BindPod):
            self.bound(action)
        self._over(key, action)

    def _over(self, key: Hashable, action: Action) -> None:
        if self.asked.get(key) is action:
            del self.asked[key]
            self._done[key] = (action, self.clock())

    def _do(self, action: Action) -> None:
        cluster = self.cluster
        if isinstance(action, BindPod):
            cluster.bind(action.uid, action.node, action.job, action.task)
            self.lands(action)
        elif isinstance(action, ChangeWorkload):
            cluster.patch_job(action.uid, action.content)
        elif action.delete:
            cluster.delete_pod(action.uid)
        else:
            cluster.set_deadline(action.uid, 1)
