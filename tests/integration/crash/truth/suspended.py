"""Whether a Job that its user suspended stayed so until its user resumed it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tests.integration.crash.record import KubeJob
from tests.integration.crash.truth.contradictions import Contradiction, Findings


def overridden_suspensions(findings: Findings) -> list[Contradiction]:
    """Jobs that were resumed by another client than their user."""
    found = []
    for name, work in findings.watched.items():
        versions = [s.thing for s in findings.records[name].jobs if isinstance(s.thing, KubeJob)]
        if work.is_job and is_overridden(versions):
            found.append(Contradiction(name, "its user suspended it, and another resumed it"))
    return found


def is_overridden(versions: Sequence[KubeJob]) -> bool:
    """Whether a Job was resumed without its user.

    Every action of a user changes the stamp. A user who suspends a Job that we have suspended
    changes nothing: it is still queued by us.
    """
    by_user = False
    for before, job in itertools.pairwise(versions):
        is_users = job.stamp != before.stamp
        if job.suspended and not before.suspended:
            by_user = is_users and not job.is_queued
        elif before.suspended and not job.suspended:
            if by_user and not is_users:
                return True
            by_user = False
    return False
