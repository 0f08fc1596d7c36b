"""Counts pods whose creation was not answered, so that the Job controller does not know of them.

When the API server is killed after it has created a pod and before it answers, the Job controller
creates another in its place, and nothing can keep it from that: the names of its pods are drawn by
chance. So a Job may have as many pods too many as were made right before the server was killed.
"""

from __future__ import annotations

from collections import Counter

from tests.integration.crash.checks.evidence import Evidence
from tests.integration.crash.record import pods

_BEFORE = 1.0
"""Seconds within which the server may not have answered."""


def unanswered_pods(evidence: Evidence) -> Counter[str]:
    """How many such pods each piece of work may have."""
    known: set[str] = set()
    found: Counter[str] = Counter()
    for seen, pod in pods(evidence.record):
        if pod.uid in known:
            continue
        known.add(pod.uid)
        if pod.owner and any(a.since - _BEFORE <= seen.at <= a.until for a in evidence.server_away):
            found[pod.work] += 1
    return found
