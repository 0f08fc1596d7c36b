"""Finds our work that others' pods displaced, and what that excuses.

Others may take capacity that our work was given and does not use yet, or collide with it. What
cannot be placed elsewhere then goes back to the queue, so pods of a Job may run more than once; and
pods that no controller recreates fail. The queue says so, with the node; it is believed only if the
record shows that others came there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.integration.crash.checks.evidence import Evidence
from tests.integration.crash.checks.node_usage import steps
from tests.integration.crash.works import Kind

_BLAME = re.compile(r"other pods took (?:its )?capacity on node ([^\s,;]+)")


@dataclass(frozen=True, slots=True)
class Crowded:
    """Names of work."""

    restarted: frozenset[str]
    """It went back to the queue at least once."""
    failed: frozenset[str]
    """It ended for this reason."""


def crowded_out(evidence: Evidence) -> Crowded:
    came = {step.node for step in steps(evidence.record) if step.came and not step.pod.is_ours}
    names = {work.name: work.name for work in evidence.works if work.is_ours}
    names |= {f"{work.name}-0": work.name for work in evidence.works if work.kind is Kind.SINGLE}
    alone = {work.name for work in evidence.works if not work.is_job}

    def blames(text: str) -> bool:
        return any(node in came for node in _BLAME.findall(text))

    rows = [(names[row.name], row) for row in evidence.rows if row.name in names]
    failed = {name for name, row in rows if row.state == "failed" and blames(row.reason)}
    return Crowded(
        restarted=frozenset(name for name, row in rows if blames(row.reasons)),
        failed=frozenset(failed & alone),
    )
