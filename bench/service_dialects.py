"""What `bench/service` says to servers, in each dialect: a match, and the cancel that undoes it.

Messages are bytes here: what is sent is made before the clock starts, and of an answer only the
job's number is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from fluxnetes.rpc.wire import jobspec_pb2, podspec_pb2
from fluxnetes.v1 import jobs_pb2

CORES = (1, 2, 3, 4, 5, 6, 7, 8)
"""What jobs ask for, in turn, all of one node and for an hour."""
MANY = 10_000


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to ask for a job and how to give it back."""

    name: str
    option: str
    """The value of `fluxnetes serve --dialect`."""
    service: str
    asks: Callable[[], list[bytes]]
    """What is sent, in turn."""
    job: Callable[[bytes], int]
    """The number that an answer gives; 0 if it is a no."""
    cancel: Callable[[int], bytes]


def jobspec_text(cores: int, name: str = "app") -> str:
    """A jobspec as the old operator writes it: JSON, one slot."""
    slot = {"type": "slot", "count": 1, "label": "task", "with": [{"type": "core", "count": cores}]}
    task = {"command": [name], "slot": "task", "count": {"per_slot": 1}}
    system = {"system": {"duration": 3600}}
    return json.dumps({"version": 1, "resources": [slot], "tasks": [task], "attributes": system})


def _jobspec_asks(texts: list[str]) -> list[bytes]:
    return [jobspec_pb2.MatchRequest(jobspec=text).SerializeToString() for text in texts]


def _jobspec_job(answer: bytes) -> int:
    found = jobspec_pb2.MatchResponse.FromString(answer)
    return found.jobid if found.allocation else 0


def _podspec_asks() -> list[bytes]:
    pods = (podspec_pb2.PodSpec(id="pod", cpu=cores) for cores in CORES)
    return [podspec_pb2.MatchRequest(podspec=p, count=1).SerializeToString() for p in pods]


def _podspec_job(answer: bytes) -> int:
    found = podspec_pb2.MatchResponse.FromString(answer)
    return found.fluxID if found.allocated else 0


def _v1_asks() -> list[bytes]:
    asks = (jobs_pb2.Ask(jobspec=jobspec_text(cores)) for cores in CORES)
    return [jobs_pb2.MatchRequest(ask=ask).SerializeToString() for ask in asks]


JOBSPEC = Dialect(
    "jobspec",
    "jobspec",
    "fluxion.FluxionService",
    lambda: _jobspec_asks([jobspec_text(cores) for cores in CORES]),
    _jobspec_job,
    lambda job: jobspec_pb2.CancelRequest(jobID=job).SerializeToString(),
)
ALL_DIFFERENT = Dialect(
    "jobspec, each another",
    "jobspec",
    "fluxion.FluxionService",
    lambda: _jobspec_asks([jobspec_text(CORES[n % 8], f"app-{n}") for n in range(MANY)]),
    _jobspec_job,
    lambda job: jobspec_pb2.CancelRequest(jobID=job).SerializeToString(),
)
PODSPEC = Dialect(
    "podspec",
    "podspec",
    "fluxion.FluxionService",
    _podspec_asks,
    _podspec_job,
    lambda job: podspec_pb2.CancelRequest(fluxID=job).SerializeToString(),
)
V1 = Dialect(
    "v1",
    "jobspec",
    "fluxnetes.v1.JobService",
    _v1_asks,
    lambda answer: jobs_pb2.MatchResponse.FromString(answer).job.id,
    lambda job: jobs_pb2.CancelRequest(job=job).SerializeToString(),
)
DIALECTS = (JOBSPEC, ALL_DIFFERENT, PODSPEC, V1)
