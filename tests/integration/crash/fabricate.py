"""Fabricated records, for tests of the checks."""

from __future__ import annotations

import msgspec

from tests.integration.crash.checks.evidence import Evidence, Row
from tests.integration.crash.record import KubeJob, Node, Pod, Seen, Thing
from tests.integration.crash.works import Fate, Kind, Work


class Story:
    """Tells a record, one change after the other."""

    def __init__(self, *nodes: str) -> None:
        self.now = 0.0
        self.record: list[Seen] = []
        self._known: dict[str, Thing] = {}
        for name in nodes:
            self._add(name, Node(name, {"cpu": 4000}))

    def after(self, seconds: float) -> Story:
        self.now += seconds
        return self

    def pod(
        self, name: str, work: str = "w", cores: int = 2, *, ours: bool = True, owner: str = ""
    ) -> Story:
        """A pod is made."""
        requests = {"cpu": 1000 * cores}
        made = Pod(name, name, work, is_ours=ours, requests=requests, owner=owner)
        return self._add(name, made)

    def bind(self, name: str, node: str = "n1") -> Story:
        pod = self._known[name]
        assert isinstance(pod, Pod)
        return self.change(name, node=node, job="1" if pod.is_ours else "")

    def run(self, name: str) -> Story:
        return self.change(name, phase="Running")

    def end(self, name: str, phase: str = "Succeeded", reason: str = "") -> Story:
        return self.change(name, phase=phase, reason=reason)

    def remove(self, name: str) -> Story:
        return self.change(name, is_gone=True)

    def job(self, name: str, **fields: object) -> Story:
        return self._add(name, KubeJob(name, name, "w", **fields))  # type: ignore[arg-type]

    def change(self, name: str, **fields: object) -> Story:
        return self._add(name, msgspec.structs.replace(self._known[name], **fields))

    def _add(self, name: str, thing: Thing) -> Story:
        self._known[name] = thing
        self.record.append(Seen(len(self.record) + 1, self.now, thing))
        return self

    def evidence(self, *works: Work, rows: tuple[Row, ...] = ()) -> Evidence:
        return Evidence(works or (a_gang(),), tuple(self.record), rows)


def a_gang(pods: int = 2, fate: Fate = Fate.SUCCEEDS) -> Work:
    return Work("w", Kind.GANG, pods, 2, fate=fate)


def a_job(pods: int = 2, fate: Fate = Fate.SUCCEEDS) -> Work:
    return Work("w", Kind.QUEUED, pods, 2, fate=fate)
