"""A play with an inspector, in which things happen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from fluxnetes.cluster.groups import WorkloadGroup, named_group
from fluxnetes.cluster.labels.names import GROUP, HOLD, QUEUED, WALLTIME
from fluxnetes.cluster.labels.parse import options_or_error
from fluxnetes.kube.objects.base import Object
from fluxnetes.kube.objects.jobs import Job
from fluxnetes.kube.objects.nodes import Node
from fluxnetes.queue.states import ENDED
from tests.property.controller.inspector import Inspector
from tests.property.controller.truth import TruthRecorder
from tests.unit.cluster.builders import machine
from tests.unit.controller.cluster import Cluster
from tests.unit.controller.play import Crash, Play

T = TypeVar("T", bound=Object)

NODES = ("n1", "n2", "n3")
FAST = {"disk": "fast"}


DEVICE = "example.com/device"


def a_node(name: str, *, cpu: int = 4, fast: bool | None = None, devices: int | None = 2) -> Node:
    """All but the last have fast disks; without a number of devices no plugin is registered."""
    is_fast = name != NODES[-1] if fast is None else fast
    more = {} if devices is None else {DEVICE: str(devices)}
    return machine(name, cpu=str(cpu), labels=FAST if is_fast else {}, more=more)


class Scene:
    """See the module's docstring."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.inspector = Inspector(play)
        self.truth = TruthRecorder(play.cluster)
        self._count = 0
        self._names: dict[str, str] = {}

    @property
    def cluster(self) -> Cluster:
        return self.play.cluster

    def uid(self) -> str:
        self._count += 1
        return f"uid-{self._count}"

    def name(self, kind: str, *, again: bool = False) -> str:
        """A new name, or the last one of this kind."""
        if not again or kind not in self._names:
            self._names[kind] = f"{kind}-{self._count + 1}"
        return self._names[kind]

    def put(self, object: T) -> T:
        return self.cluster.put(object)

    # -- time ----------------------------------------------------------------------------------

    def settle(self) -> None:
        while True:
            try:
                self.play.settle()
            except Crash as crash:
                self._start_again(empty=crash.empty)
            else:
                return

    def wait(self, seconds: int) -> None:
        for _ in range(seconds):
            self.play.lags = set()
            self.cluster.pass_time()
            self.settle()

    # -- words ---------------------------------------------------------------------------------

    def tell_of(self, group: WorkloadGroup) -> str:
        """The state of a group, for the message of a failure."""
        shared, lines = (
            self.play.shared,
            [f"{group.key}: closed {group.closed}, not queued {group.not_queued}"],
        )
        for part in group.parts:
            lines.append(f"  {shared.state(part).value}: {part}")
        for uid, member in group.pods.items():
            pod, at = member.pod, group.seats.get(uid)
            seat = f"has seat {at[0].job}/{at[1]}" if at is not None else "has no seat"
            lines.append(f"  pod {uid} {pod.status.phase} on {pod.spec.node_name!r}, {seat}")
        for uid, each in group.workloads.items():
            lines.append(f"  {group.kinds[uid]} {uid}: {each}")
        return "\n".join(lines)

    # -- the end of a term ---------------------------------------------------------------------

    def restart(self, *, empty: bool = False) -> None:
        """Perhaps in the middle of a round, of which then nothing more is done."""
        if self.play.is_writing:
            raise Crash(empty)
        self._start_again(empty=empty)

    def _start_again(self, *, empty: bool) -> None:
        self.truth.expect_lost_time()
        self.play.restart(empty=empty)
        self.inspector.attend()

    def crash_at_commit(self, *, written: bool) -> None:
        def crash() -> None:
            self.play.store.before_commit = self.play.store.after_commit = lambda: None
            raise Crash()

        if written:
            self.play.store.after_commit = crash
        else:
            self.play.store.before_commit = crash

    def away(self, happenings: Iterable[Callable[[Scene], None]], seconds: int) -> None:
        """The controller is killed, things happen, and after a while another one starts."""
        self.inspector.expect_lost_time()
        for happening in happenings:
            happening(self)
        for _ in range(seconds):
            self.cluster.pass_time()
        self.restart()
        self.settle()

    def pause(self, happenings: Iterable[Callable[[Scene], None]], seconds: int) -> None:
        """The controller stands still while things happen, and then goes on."""
        self.inspector.expect_lost_time()
        self.truth.expect_lost_time()
        for happening in happenings:
            happening(self)
        for _ in range(seconds):
            self.cluster.pass_time()
        self.settle()

    def check_ends(self) -> None:
        """What jobs ended as is what Kubernetes says, and no group was ever forgotten."""
        jobs = list(self.play.store.keeper.jobs.values())
        wrong = self.truth.contradictions(jobs)
        assert not wrong, "\n".join(wrong)
        assert not self.play.controller.sweep.repairs, "a group was forgotten"

    # -- the end of all ------------------------------------------------------------------------

    def clear_up(self) -> None:
        """Nothing more happens: all nodes are there and ours, and pods end well."""
        self.play.executor.luck.clear()
        self.play.store.before_commit = self.play.store.after_commit = lambda: None
        for name in NODES:
            self.put(a_node(name))
        for pod in list(self.cluster.pods.values()):
            if pod not in self.cluster.ours:
                self.cluster.drop(pod)
        self.cluster.run_time, self.cluster.stop_time, self.cluster.outlives = 2, 0, 0
        self.cluster.usual, self.cluster.hesitation = "", 0
        for uid, job in list(self.cluster.jobs.items()):
            news = {"suspend": self._waits(uid), "parallelism": max(1, job.spec.parallelism)}
            # Members of a group agree again.
            free = {HOLD: None} | ({WALLTIME: None} if self._names_a_group(job) else {})
            self.cluster.patch_job(uid, {"metadata": {"annotations": free}, "spec": news})

    def _names_a_group(self, job: Job) -> bool:
        template = job.spec.template
        options, _ = options_or_error(template.metadata)
        return bool(named_group(options, template.spec)) or GROUP in job.metadata.labels

    def _waits(self, job: str) -> bool:
        """Jobs that their users suspended are resumed; those that wait for us go on waiting."""
        return QUEUED in self.cluster.jobs[job].metadata.annotations

    def delete_everything(self) -> None:
        for job in list(self.cluster.jobs):
            self.cluster.delete_job(job)
        for service in list(self.cluster.services.values()):
            self.cluster.drop(service)
        for pod in list(self.cluster.pods):
            self.cluster.delete_pod(pod)
        for pod_group in list(self.cluster.pod_groups.values()):
            self.cluster.drop(pod_group)

    def check_that_nothing_is_left(self) -> None:
        """Everything is gone, and so it is for the queue."""
        assert not self.cluster.pods and not self.cluster.jobs
        shared = self.play.shared
        alive = [job for job in shared.scheduler.jobs.values() if job.state not in ENDED]
        assert not alive, f"jobs without objects: {alive}"
        assert not shared.parts and not shared.model.groups, f"{shared.parts} {shared.model.groups}"
        assert not shared.matcher.jobs
        assert not any(shared.seats_on.values())
        assert not shared.model.foreign.pods
        assert not shared.model.orphans
        assert not self.play.controller.submitter.demands
        assert not self.play.executor.requested
