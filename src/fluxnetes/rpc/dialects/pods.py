"""Reads the pods of the dialects that have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fluxnetes.service.values import EqualPods

_ZONE = "zone"


class DialectPodSpec(Protocol):
    """One of the equal pods of a request; both dialects have the same message."""

    cpu: int
    memory: int
    gpu: int
    storage: int

    @property
    def labels(self) -> Sequence[str]: ...


def read_pods(one: DialectPodSpec, count: int) -> EqualPods:
    together = _ZONE in one.labels
    return EqualPods(count, one.cpu, one.memory, one.gpu, one.storage, together=together)
