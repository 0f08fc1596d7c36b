"""All checks of one run, and what to tell about it."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from fluxnetes.controller.reporting.fluxjob_writer import WORKLOAD
from fluxnetes.plane.api import Object
from fluxnetes.plane.binaries import PlaneBinaries
from tests.integration.crash import record
from tests.integration.crash.checks import books, ends, gangs, node_usage
from tests.integration.crash.checks.crowds import Crowded, crowded_out
from tests.integration.crash.checks.evidence import Away, Evidence, Row
from tests.integration.crash.manifests import JOBS, NAMESPACE, PODS
from tests.integration.crash.site import Kill, Site, Victim
from tests.integration.crash.storm import Plan, calm, fill, rage
from tests.integration.crash.works import Work
from tests.integration.store.servers import fetch

CALM = 120.0
"""Seconds that all work has to end after the last kill, and for each kill some more: while things
are away work piles up."""
_FOR_EACH_KILL = 3.0
_FLUXJOBS = f"/apis/jobs.converged-computing.org/v1alpha1/namespaces/{NAMESPACE}/fluxjobs"
_LIVING = {
    "allocations": "SELECT count(*) FROM allocations",
    "tasks": "SELECT count(*) FROM tasks",
    "plans": "SELECT count(*) FROM plans",
    "commitments": "SELECT count(*) FROM commitments",
}
_ROWS = (
    "SELECT jobs.id, workload, state, coalesce(jobs.reason, '') AS reason, "
    "coalesce((SELECT string_agg(reason, '; ') FROM events WHERE job = jobs.id), '') AS reasons "
    "FROM jobs JOIN submissions USING (id) ORDER BY jobs.id"
)
_SETTLE = 15.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found."""

    plan: Plan
    complaints: tuple[str, ...]
    kills: tuple[Kill, ...]
    pods: int
    changes: int
    collisions: int
    crowded: Crowded
    seconds: float

    def report(self) -> str:
        """As a table, with the seed that leads here again."""
        lines = [
            f"seed {self.plan.seed}: {len(self.plan.works)} pieces of work, {self.pods} pods, "
            f"{self.changes} changes, {self.seconds:.0f} s"
        ]
        lines += [_kills_of(victim, self.kills) for victim in Victim]
        lines.append(f"{self.collisions} collisions with others")
        lines.append(f"sent back for others: {_named(self.crowded.restarted)}")
        lines.append(f"failed for others: {_named(self.crowded.failed)}")
        lines += [f"WRONG: {complaint}" for complaint in self.complaints] or ["all is well"]
        return "\n".join(lines)


def _named(works: frozenset[str]) -> str:
    return ", ".join(sorted(works)) or "none"


def _kills_of(victim: Victim, kills: tuple[Kill, ...]) -> str:
    away = [kill.back - kill.at for kill in kills if kill.victim is victim]
    text = f"{victim.value:12} killed {len(away)} times"
    if not away or victim is Victim.CONTROLLER:  # the run does not wait until it leads again
        return text
    return f"{text}, away for {statistics.median(away):.1f} s (median), {max(away):.1f} s (longest)"


def run(folder: Path, plan: Plan, nodes: int, binaries: PlaneBinaries | None = None) -> Verdict:
    """One run, from an empty folder to a verdict."""
    began = time.monotonic()
    with Site(folder, nodes, binaries) as site:
        rage(site, plan)
        late = calm(site, plan.works, CALM + _FOR_EACH_KILL * len(plan.kills))
        last, not_filled = fill(site, CALM / 2)
        evidence, missing = gather(site, (*plan.works, last))
    alone = [f"the controller ended by itself: {words}" for words in site.ended_alone]
    complaints = [*late, *not_filled, *missing, *alone, *judge(evidence)]
    seen = record.last(evidence.record).values()
    return Verdict(
        plan,
        tuple(complaints),
        tuple(site.kills),
        pods=sum(isinstance(each.thing, record.Pod) for each in seen),
        changes=len(evidence.record),
        collisions=len(node_usage.collisions(evidence)),
        crowded=crowded_out(evidence),
        seconds=time.monotonic() - began,
    )


def judge(evidence: Evidence) -> list[str]:
    """All that is wrong."""
    checks = (
        ends.wrong_ends,
        ends.long_overruns,
        node_usage.overcommitments,
        node_usage.strangers,
        node_usage.lasting_collisions,
        gangs.partial_groups,
        gangs.half_run_groups,
        books.wrong_jobs,
        books.leaks,
        books.wrong_fluxjobs,
    )
    return [complaint for check in checks for complaint in check(evidence)]


# --- what a run leaves -------------------------------------------------------------------------


def gather(site: Site, works: tuple[Work, ...]) -> tuple[Evidence, list[str]]:
    """Everything that is asked, once the controller has had time to write it down."""
    _wait_for_books(site)
    site.stop_controller()
    fluxjobs = site.api.get(_FLUXJOBS)["items"]
    seen, missing = _whole_record(site)
    evidence = Evidence(
        works,
        seen,
        rows=_rows(site),
        left={name: _count(site, query) for name, query in _LIVING.items()},
        fluxjobs=tuple(map(_fluxjob, fluxjobs)),
        server_away=tuple(
            Away(kill.at, kill.back) for kill in site.kills if kill.victim is Victim.API_SERVER
        ),
    )
    return evidence, missing


def _fluxjob(thing: Object) -> Row:
    workload = thing["metadata"]["annotations"].get(WORKLOAD, "")
    status = thing.get("status", {})
    return Row(status.get("jobID", 0), workload, status.get("state", ""), status.get("reason", ""))


def _wait_for_books(site: Site) -> None:
    """Until no job lives that could run; if some do for long, the checks will say so."""
    deadline = time.monotonic() + _SETTLE
    query = "SELECT count(*) FROM jobs WHERE NOT ended AND reason_code != 'Unsatisfiable'"
    while _count(site, query) and time.monotonic() < deadline:
        time.sleep(0.2)


def _whole_record(site: Site) -> tuple[tuple[record.Seen, ...], list[str]]:
    """The record, as soon as it has all that the API server shows."""
    listed = [*site.api.get(PODS)["items"], *site.api.get(JOBS)["items"]]
    versions = {
        each["metadata"]["uid"]: int(each["metadata"]["resourceVersion"]) for each in listed
    }
    deadline = time.monotonic() + _SETTLE
    while True:
        seen = tuple(record.read(site.record))
        missing = ends.missed_changes(seen, versions)
        if not missing or time.monotonic() > deadline:
            return seen, missing
        time.sleep(0.2)


def _rows(site: Site) -> tuple[Row, ...]:
    found = asyncio.run(fetch(site.dsn, _ROWS))
    return tuple(Row(r["id"], r["workload"], r["state"], r["reason"], r["reasons"]) for r in found)


def _count(site: Site, query: str) -> int:
    [row] = asyncio.run(fetch(site.dsn, query))
    return int(row["count"])
