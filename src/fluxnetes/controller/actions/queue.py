"""The queue of requested actions: what waits for a worker, what is in flight, what was just done.

Each action is about one object, which is its key. An action that is requested again while it waits
or is in flight is done once; another action on the same object replaces it, and the worker that has
the object does that next. An action that was done a moment ago is not done again: the watch may not
show its effect yet.

The queue does nothing itself. `executor` takes actions from it and reports back, `reconcile` puts
actions in, and other modules ask it which binds are in flight.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable
from dataclasses import dataclass, field

from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.kube.http.transport import Lane

ENOUGH_BINDS = 4 * Lane.BINDS.value
"""Queued binds that keep all workers busy while the queue decides on more."""
_JUST_DONE = 3.0
"""Seconds in which the same action is not repeated: until then the watch shows its effect."""
_REMEMBERED = 10_000
"""Maximum actions that are remembered as just done."""


@dataclass(slots=True, eq=False)
class ActionQueue:
    """Actions by the object that they are about. See the module's docstring."""

    requested: dict[Hashable, Action] = field(init=False, default_factory=dict)
    """What waits or is in flight."""
    expects_more: bool = field(init=False, default=False)
    """Whether more binds will be requested in a moment."""
    _binds: asyncio.Queue[Hashable] = field(init=False, default_factory=asyncio.Queue)
    _others: asyncio.Queue[Hashable] = field(init=False, default_factory=asyncio.Queue)
    _bind_jobs: dict[str, int] = field(init=False, default_factory=dict)
    """The job of each pod whose bind is in flight, by the pod's uid."""
    _working: set[Hashable] = field(init=False, default_factory=set)
    """Objects that a worker has; it also does what is requested for them meanwhile."""
    _done: dict[Hashable, tuple[Action, float]] = field(init=False, default_factory=dict)
    """What was just done, and when."""

    # -- for components that request actions ---------------------------------------------------

    def request(self, action: Action) -> None:
        """Have an action done, unless it is in flight or was done a moment ago."""
        key = key_of(action)
        if key in self.requested or key in self._working:
            if self.requested.get(key) != action:
                self.requested[key] = action
            return
        done = self._done.get(key)
        if done is not None and done[0] == action and time.monotonic() - done[1] < _JUST_DONE:
            return
        self.requested[key] = action
        (self._binds if isinstance(action, BindPod) else self._others).put_nowait(key)

    def revoke_bind(self, uid: str) -> None:
        """Do not bind a pod, unless its bind is in flight already."""
        self.requested.pop(bind_key(uid), None)

    def expect_more(self, expected: bool) -> None:
        """Whether the queue has yet to decide on jobs that may start: binds will follow."""
        self.expects_more = expected

    def is_binding_job(self, job: int) -> bool:
        """Whether a bind of a job is in flight."""
        return job in self._bind_jobs.values()

    def is_binding_pod(self, uid: str) -> bool:
        """Whether the bind of a pod is in flight."""
        return uid in self._bind_jobs

    def is_idle(self) -> bool:
        """Whether no bind waits for a worker, nor will be requested in a moment."""
        return self._binds.empty() and not self.expects_more

    def is_full(self) -> bool:
        """Whether enough binds are queued to keep all workers busy for a while."""
        return self._binds.qsize() >= ENOUGH_BINDS

    # -- for the workers of the executor -------------------------------------------------------

    async def take_bind(self) -> Hashable:
        """Wait for an object with a bind to do. `release` has to follow."""
        return await self._take(self._binds)

    async def take_other(self) -> Hashable:
        """Wait for an object with any other action to do. `release` has to follow."""
        return await self._take(self._others)

    async def _take(self, queue: asyncio.Queue[Hashable]) -> Hashable:
        while (key := await queue.get()) in self._working:
            pass  # the worker that has it does this, too
        self._working.add(key)
        return key

    def release(self, key: Hashable) -> None:
        """A worker has nothing more to do for an object."""
        self._working.discard(key)

    def bind_started(self, bind: BindPod) -> None:
        """A bind is in flight; until it has ended its effect is unknown."""
        self._bind_jobs[bind.uid] = bind.job

    def bind_ended(self, bind: BindPod) -> None:
        del self._bind_jobs[bind.uid]

    def finish(self, key: Hashable, action: Action) -> bool:
        """An action is done; False if another one was requested for the object meanwhile."""
        if self.requested.get(key) is not action:
            return key not in self.requested
        del self.requested[key]
        if len(self._done) > _REMEMBERED:
            self._done.clear()
        self._done[key] = (action, time.monotonic())
        return True


def key_of(action: Action) -> Hashable:
    """The object that an action is about; the bind of a pod is apart from its end."""
    return bind_key(action.uid) if isinstance(action, BindPod) else action.uid


def bind_key(uid: str) -> Hashable:
    return ("bind", uid)
