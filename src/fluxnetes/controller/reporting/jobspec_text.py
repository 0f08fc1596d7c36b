"""Renders a job's request as a Flux jobspec in YAML, for the FluxJob."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml

from fluxnetes.match.gang.model import Gang, Shape
from fluxnetes.queue.jobs import QueueJob

_LEFT_OUT = ("tenancy", "pods")
"""Pools of which every pod takes one, so they carry no information."""


def jobspec_text(job: QueueJob) -> str:
    """The request of a job as YAML; empty if it is no gang, and so has no pods."""
    request = job.submission.request
    if not isinstance(request, Gang):
        return ""
    return _text(request.shapes, job.walltime or 0)


@lru_cache(maxsize=1024)
def _text(shapes: tuple[Shape, ...], duration: int) -> str:
    resources = [_slot(shape, f"pod{number}") for number, shape in enumerate(shapes)]
    document: dict[str, Any] = {
        "version": 9999,
        "resources": resources,
        "tasks": [
            {"command": ["pod"], "slot": slot["label"], "count": {"per_slot": 1}}
            for slot in resources
        ],
        "attributes": {"system": {"duration": duration}},
    }
    return yaml.safe_dump(document, sort_keys=False)


def _slot(shape: Shape, label: str) -> dict[str, Any]:
    inside = [
        {"type": type, "count": amount} for type, amount in shape.amounts if type not in _LEFT_OUT
    ]
    return {"type": "slot", "count": shape.count, "label": label, "with": inside}
