"""Finds ends that Fluxnetes tells otherwise than Kubernetes, over all workloads of a run."""

from __future__ import annotations

from tests.integration.crash.truth.contradictions import Contradiction, Findings
from tests.integration.crash.truth.dependents import may_be_rejected


def false_ends(findings: Findings) -> list[Contradiction]:
    """Workloads whose end is told otherwise than Kubernetes tells it."""
    return [
        Contradiction(name, complaint)
        for name, work in findings.watched.items()
        if not _is_rightly_rejected(findings, name)
        for complaint in findings.said[name].complaints(
            findings.outcomes[name],
            has_run=_has_run(findings, name),
            wants_fluxjob=not work.is_single,
        )
    ]


def unknown_jobs(findings: Findings) -> list[Contradiction]:
    """Jobs in the store for which there was no workload of ours."""
    return [
        Contradiction(row.name, f"it was queued, and is no workload of ours: {row}")
        for row in findings.rows
        if row.name not in findings.watched
    ]


def _is_rightly_rejected(findings: Findings, name: str) -> bool:
    """Its user may then delete or suspend it, which changes nothing: it never ran."""
    is_rejected = findings.said[name].is_rejected and not _has_run(findings, name)
    return is_rejected and may_be_rejected(findings, name)


def _has_run(findings: Findings, name: str) -> bool:
    return findings.records[name].first_bind is not None
