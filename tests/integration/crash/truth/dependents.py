"""Whether work that depends on other work (`afterok`) followed it, and only it."""

from __future__ import annotations

from tests.integration.crash.truth.contradictions import Contradiction, Findings
from tests.integration.crash.truth.outcome import COMPLETED
from tests.integration.crash.truth.said import DEPENDENCY, GATHERING


def wrong_dependents(findings: Findings) -> list[Contradiction]:
    """Dependents that ran although they must not, or were rejected although they need not be."""
    found = []
    for name, work in findings.watched.items():
        if work.after:
            found += [Contradiction(name, text) for text in _complaints(findings, name, work.after)]
    return found


def _complaints(findings: Findings, name: str, after: str) -> list[str]:
    truth = findings.outcomes[after]
    bound, succeeded = findings.records[name].first_bind, findings.records[after].succeeded_at
    found = []
    if bound is not None:
        if COMPLETED not in truth.allowed:
            found.append(f"it ran after {after}, which is {truth.state} ({truth.why})")
        elif succeeded is None or bound < succeeded:
            found.append(f"it ran before {after} had succeeded")
    if truth.allowed == {COMPLETED}:
        rejected = [row for row in findings.said[name].rows if row.state == "rejected"]
        found += [f"{after} succeeded, and {row}" for row in rejected if row.code == DEPENDENCY]
    return found


def may_be_rejected(findings: Findings, name: str) -> bool:
    """Whether what a workload depends on will never succeed."""
    after = findings.watched[name].after
    if not after:
        return False
    truth = findings.outcomes[after]
    if truth.is_end:
        return truth.allowed != {COMPLETED}
    if is_given_up(findings, after):
        return True
    return findings.said[after].is_rejected and may_be_rejected(findings, after)


def is_given_up(findings: Findings, name: str) -> bool:
    """Whether a group without a workload ended half-placed, and its pods without a node say why.

    Its job has then ended as the pods did that ran, or waits for the pods that are missing.
    """
    record, rows = findings.records[name], findings.said[name].rows
    if record.is_job or not rows or not all(pod.told for pod in record.unbound_pods()):
        return False
    truth = record.outcome_of_bound(findings.deleted_by_user)
    is_told = rows[-1].state == GATHERING or rows[-1].state in truth.allowed
    return truth.is_end and COMPLETED not in truth.allowed and is_told


def may_wait(findings: Findings, name: str) -> bool:
    """Whether what a workload depends on has not ended, for a good reason, or was never queued."""
    after = findings.watched[name].after
    if not after:
        return False
    if not findings.said[after].rows and findings.outcomes[after].state != COMPLETED:
        return True
    return not findings.outcomes[after].is_end
