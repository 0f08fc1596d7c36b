"""Finds work that never ended although nothing keeps it: the cluster is idle, and it waits."""

from __future__ import annotations

from tests.integration.crash.truth.contradictions import Contradiction, Findings
from tests.integration.crash.truth.dependents import is_given_up, may_be_rejected, may_wait
from tests.integration.crash.truth.outcome import NONE

_GATHERING = "Gathering: "


def stuck_work(findings: Findings) -> list[Contradiction]:
    """Workloads without an end that are neither held by their user nor wait for others."""
    return [
        Contradiction(name, _describe(findings, name))
        for name in findings.watched
        if findings.outcomes[name].state == NONE and not _is_excused(findings, name)
    ]


def _is_excused(findings: Findings, name: str) -> bool:
    if findings.said[name].is_rejected:
        return may_be_rejected(findings, name)
    return may_wait(findings, name) or _lacks_pods(findings, name) or is_given_up(findings, name)


def _lacks_pods(findings: Findings, name: str) -> bool:
    """Whether a group waits, and says so, for a pod that its user deleted."""
    record = findings.records[name]
    unbound = record.unbound_pods()
    is_told = bool(unbound) and all(pod.told.startswith(_GATHERING) for pod in unbound)
    return is_told and bool(record.pod_names & findings.deleted_by_user)


def _describe(findings: Findings, name: str) -> str:
    said, record = findings.said[name], findings.records[name]
    rows = "; ".join(map(str, said.rows)) or "the store has no job of it"
    unbound = record.unbound_pods()
    told = next((pod.told for pod in unbound if pod.told), "")
    silent = not told and not any(row.is_live for row in said.rows)
    words = [f"it never ended: {rows}"]
    if unbound:
        words.append(f"{len(unbound)} pods without a node, told {told!r}")
    if said.fluxjob is not None:
        words.append(f"its FluxJob says {said.fluxjob.state} ({said.fluxjob.code})")
    if silent:
        words.append("SILENT: neither a live job nor a reason code")
    return "; ".join(words)
