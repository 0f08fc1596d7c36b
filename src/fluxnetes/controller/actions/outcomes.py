"""Feeds the outcomes of actions back into the state of the controller, and reports them.

A bind is recorded as soon as the API server has answered, before the watch shows it, so that a
group is seen to be filled as early as possible.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from fluxnetes.controller.actions.types import Action, BindPod
from fluxnetes.controller.reporting.reporter import Reporter
from fluxnetes.controller.seats import SeatAssigner
from fluxnetes.controller.state import ControllerState

_log = logging.getLogger("fluxnetes.controller")


@dataclass(slots=True, eq=False)
class OutcomeRecorder:
    """The executor's observer: see `executor.ActionObserver`."""

    shared: ControllerState
    seats: SeatAssigner
    reporter: Reporter

    def pod_bound(self, bind: BindPod) -> None:
        """A pod was bound; the watch will show it a little later."""
        known = self.shared.parts.get(bind.job)
        if known is not None and known[1].pods.get(bind.task) == bind.uid:
            group, part = known
            self.seats.pod_bound(part, bind.task)
            if part.is_filled:  # the round that the watch starts reports that the job runs
                self.shared.request_reconcile(group)
        self.reporter.pod_bound(bind)

    def action_failed(self, action: Action, why: str) -> None:
        """An action failed, and retrying would not help."""
        _log.warning("%s: %s", action, why)
        self.reporter.action_failed(action, why)
