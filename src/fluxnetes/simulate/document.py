"""Writes the results of simulations and forecasts as JSON.

    {"workload": {"name", "jobs", "skipped": {reason: count}},
     "cluster": {"nodes", "processors"},
     "policies": {NAME: {...the figures of `metrics`...,
                         "wait_distribution": [{"seconds", "share"}, ...],
                         "waits_by_size": [{"least", "most", "jobs", "mean_wait", "median_wait",
                                            "p95_wait"}, ...],
                         "schedule": [JOB, ...]}}}

A JOB is {"job", "submit", "start", "end", "size", "nodes", "backfilled"}: its number in the trace,
its times in seconds, its processors, on how many nodes it ran, and whether it was backfilled.
Shares are between 0 and 1.

Forecasts of a queue are another document:

    {"now", "scenarios": {NAME: {...the figures of `forecast.Outlook`..., "no_start": {job: why},
                                 "no_start_codes": {job: code},
                                 "jobs": [{"job", "start", "end"}, ...]}}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from fluxnetes.common.reasons import Reason, code_of
from fluxnetes.common.reasons.text import reason_text
from fluxnetes.simulate.forecast import Forecast, compare
from fluxnetes.simulate.metrics import measure, wait_distribution, waits_by_size
from fluxnetes.simulate.schedule import Schedule


def write_json(schedules: Sequence[Schedule]) -> bytes:
    """The document of one or more runs of one workload."""
    workload, machine = schedules[0].workload, schedules[0].machine
    content = {
        "workload": {
            "name": workload.name,
            "jobs": len(workload),
            "skipped": {reason.value: count for reason, count in workload.skipped.items()},
        },
        "cluster": {"nodes": len(machine.names), "processors": machine.processors},
        "policies": {schedule.policy: _policy(schedule) for schedule in schedules},
    }
    return msgspec.json.encode(content) + b"\n"


def _policy(schedule: Schedule) -> dict[str, Any]:
    return {
        **asdict(measure(schedule)),
        "wait_distribution": [asdict(each) for each in wait_distribution(schedule)],
        "waits_by_size": [asdict(each) for each in waits_by_size(schedule)],
        "schedule": list(_jobs(schedule)),
    }


def _jobs(schedule: Schedule) -> Iterator[dict[str, int | bool]]:
    workload = schedule.workload
    columns = {
        "job": workload.number,
        "submit": workload.submit,
        "start": schedule.start,
        "end": schedule.end,
        "size": workload.size,
        "nodes": schedule.nodes,
        "backfilled": schedule.backfilled,
    }
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield dict(zip(columns, row, strict=True))


def write_forecasts(
    forecasts: Sequence[Forecast], render: Callable[[Reason | None], str] = reason_text
) -> bytes:
    """The document of forecasts of one queue; figures compare them with the first.

    `render` writes reasons in the words of the users of the queue.
    """
    content = {
        "now": forecasts[0].now,
        "scenarios": {each.name: _scenario(each, forecasts[0], render) for each in forecasts},
    }
    return msgspec.json.encode(content) + b"\n"


def _scenario(
    forecast: Forecast, base: Forecast, render: Callable[[Reason | None], str]
) -> dict[str, Any]:
    jobs = [
        {"job": job, "start": start, "end": forecast.end.get(job)}
        for job, start in sorted(forecast.start.items())
    ]
    never = sorted(forecast.never.items())
    return {
        **asdict(compare(forecast, base)),
        "jobs": jobs,
        "no_start": {str(job): render(reason) for job, reason in never},
        "no_start_codes": {str(job): code_of(reason) for job, reason in never},
    }
