"""What happens in a play: values, drawn before it is known what there is by then.

Each names its object by a number, and happens to the object with that number among those that
exist; if there is none, it does not happen at all.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from msgspec.structs import replace

from fluxnetes.cluster.adapters.deployments import Deployment
from fluxnetes.cluster.adapters.replica_sets import ReplicaSet
from fluxnetes.cluster.adapters.services import ServiceWorkload
from fluxnetes.cluster.adapters.stateful_sets import StatefulSet
from fluxnetes.cluster.labels.names import (
    EXCLUSIVE,
    GROUP,
    GROUP_SIZE,
    HOLD,
    INCOMPLETE,
    MAX_SIZE,
    MIN_SIZE,
    QUEUED,
    WALLTIME,
)
from fluxnetes.kube.objects.pods import Pod
from tests.property.controller.scene import DEVICE, FAST, NODES, Scene, a_node
from tests.unit.cluster.builders import (
    OTHERS,
    a_job,
    a_native_pod_group,
    a_pod_group,
    a_service,
    a_volcano_pod_group,
    one_pod,
)
from tests.unit.cluster.objects import Content, a_container
from tests.unit.controller.cluster import is_ours
from tests.unit.controller.fake_executor import Luck

T = TypeVar("T")

POD_GROUPS = ("blue", "red")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Happening(Protocol):
    def __call__(self, scene: Scene) -> None: ...


def _one(things: Sequence[T], number: int) -> T | None:
    return things[number % len(things)] if things else None


# -- what users do ---------------------------------------------------------------------------------


class Where(enum.Enum):
    """What a pod says about its node."""

    ANYWHERE = "anywhere"
    FAST = "with a fast disk"
    POOL_SIZE = "without another of its kind"
    PORT = "where a port is free"
    DEVICE = "where a device is free"


def _spec(where: Where, cpu: int, kind: str) -> Content:
    match where:
        case Where.FAST:
            return {"nodeSelector": FAST}
        case Where.POOL_SIZE:
            selector = {"labelSelector": {"matchLabels": {"of": kind}}}
            term = {"topologyKey": "kubernetes.io/hostname", **selector}
            return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}
        case Where.PORT:
            ports = [{"containerPort": 80, "hostPort": 80}]
            return {"containers": [{**a_container(cpu=str(cpu)), "ports": ports}]}
        case Where.DEVICE:
            return {"containers": [a_container(cpu=str(cpu), limits={DEVICE: "1"})]}
    return {}


class Naming(enum.Enum):
    """How a pod, or the template of a Job, names a PodGroup."""

    NOTHING = "not at all"
    PLUGINS = "as scheduler-plugins do"
    NATIVE = "as Kubernetes does"
    VOLCANO = "as Volcano does"


def naming(how: Naming, number: int) -> tuple[Content, Content, Content]:
    """Labels, annotations and fields of the spec that name one of few PodGroups."""
    name = POD_GROUPS[number % len(POD_GROUPS)]
    match how:
        case Naming.PLUGINS:
            return {"scheduling.x-k8s.io/pod-group": name}, {}, {}
        case Naming.VOLCANO:
            return {}, {"scheduling.k8s.io/group-name": name}, {}
        case Naming.NATIVE:
            return {}, {}, {"schedulingGroup": {"podGroupName": name}}
    return {}, {}, {}


@dataclass(frozen=True)
class PodGroupComes:
    """A PodGroup is made, or says something else from now on."""

    number: int
    least: int
    how: Naming

    def __call__(self, scene: Scene) -> None:
        name = POD_GROUPS[self.number % len(POD_GROUPS)]
        match self.how:
            case Naming.NATIVE:
                scene.put(a_native_pod_group(name, self.least))
            case Naming.VOLCANO:
                scene.put(a_volcano_pod_group(name, self.least))
            case _:
                scene.put(a_pod_group(name, self.least))


@dataclass(frozen=True)
class PodGroupGoes:
    number: int

    def __call__(self, scene: Scene) -> None:
        group = _one(list(scene.cluster.pod_groups.values()), self.number)
        if group is not None:
            scene.cluster.drop(group)


@dataclass(frozen=True)
class JobComes:
    """A Job, as the webhook leaves it; or a plain one, as its user wrote it."""

    pods: int = 2
    cpu: int = 1
    completions: int | None = -1
    indexed: bool = False
    walltime: int | None = None
    least: int | None = None
    where: Where = Where.ANYWHERE
    held: bool = False
    ring: int = 0
    """The size of the label group that it is a part of, with others; 0: it is alone."""
    names: Naming = Naming.NOTHING
    """A PodGroup, which may be there, or come later, or never."""
    plain: bool = False
    deadline: int | None = None
    incomplete: str | None = None
    again: bool = False
    """Under the name of the one that came last, if that is gone."""

    def __call__(self, scene: Scene) -> None:
        name = scene.name("job", again=self.again)
        if any(job.metadata.name == name for job in scene.cluster.jobs.values()):
            return
        options = self._options()
        options |= {HOLD: "true"} if self.held else {}
        options |= {} if self.incomplete is None else {INCOMPLETE: self.incomplete}
        label, annotation, native = naming(self.names, self.pods)
        completions = self.completions
        if completions is not None and completions > 0:
            completions += self.pods
        scene.put(
            a_job(
                name,
                uid=scene.uid(),
                pods=self.pods,
                cpu=str(self.cpu),
                completions=self.pods if self.indexed else completions,
                completionMode="Indexed" if self.indexed else "NonIndexed",
                suspended=not self.plain,
                queued=not self.plain,
                activeDeadlineSeconds=self.deadline,
                annotations=options,
                labels={GROUP: f"ring-{self.ring}", GROUP_SIZE: str(self.ring)}
                if self.ring
                else {},
                template={"labels": {"of": name, **label}, "annotations": annotation},
                pod={**_spec(self.where, self.cpu, name), **native},
            )
        )

    def _options(self) -> dict[str, str]:
        """Members of one group mostly agree."""
        if self.ring or self.names is not Naming.NOTHING:
            return {WALLTIME: "9s"} if self.walltime == 2 else {}
        options = {} if self.walltime is None else {WALLTIME: f"{self.walltime}s"}
        return options | ({} if self.least is None else {MIN_SIZE: str(min(self.least, self.pods))})


@dataclass(frozen=True)
class PodsCome:
    """Some pods of a label group, whose number is its size; the others come later, or never."""

    size: int
    cpus: tuple[int, ...]
    most: int | None = None
    names: Naming = Naming.NOTHING
    """A PodGroup, in place of the label group."""

    def __call__(self, scene: Scene) -> None:
        if self.names is not Naming.NOTHING:
            self._name_a_pod_group(scene)
            return
        options = {} if self.most is None else {MAX_SIZE: str(max(self.most, self.size))}
        for cpu in self.cpus:
            name = scene.name("pod")
            ring = f"ring-{self.size}"
            pod = one_pod(
                name,
                uid=scene.uid(),
                cpu=str(cpu),
                group=ring,
                size=self.size,
                annotations=options,
            )
            scene.put(pod)

    def _name_a_pod_group(self, scene: Scene) -> None:
        label, annotation, native = naming(self.names, self.size)
        for cpu in self.cpus:
            name, uid = scene.name("pod"), scene.uid()
            scene.put(
                one_pod(name, uid=uid, cpu=str(cpu), labels=label, annotations=annotation, **native)
            )


@dataclass(frozen=True)
class PodComes:
    """A pod by itself."""

    cpu: int
    alone: bool = False
    gated: bool = False
    deadline: int | None = None
    where: Where = Where.ANYWHERE

    def __call__(self, scene: Scene) -> None:
        options = {EXCLUSIVE: "true"} if self.alone else {}
        gates = [{"name": QUEUED}] if self.gated else []
        name, uid = scene.name("pod"), scene.uid()
        scene.put(
            one_pod(
                name,
                uid=uid,
                cpu=str(self.cpu),
                labels={"of": "pods"},
                annotations=options,
                schedulingGates=gates,
                activeDeadlineSeconds=self.deadline,
                **_spec(self.where, self.cpu, "pods"),
            )
        )


class Service(enum.Enum):
    DEPLOYMENT = Deployment
    REPLICA_SET = ReplicaSet
    STATEFUL_SET = StatefulSet


@dataclass(frozen=True)
class ServiceComes:
    """A service, as the webhook leaves it."""

    kind: Service
    replicas: int
    cpu: int = 1
    least: int | None = None
    parallel: bool = True
    walltime: int | None = None
    ring: int = 0

    def __call__(self, scene: Scene) -> None:
        options = {} if self.least is None else {MIN_SIZE: str(self.least)}
        if self.ring:
            options = {GROUP: f"ring-{self.ring}", GROUP_SIZE: str(self.ring)}
        elif self.walltime is not None:
            options |= {WALLTIME: f"{self.walltime}s"}
        policy: Content = {"podManagementPolicy": "Parallel" if self.parallel else "OrderedReady"}
        scene.put(
            a_service(
                self.kind.value,
                scene.name("service"),
                uid=scene.uid(),
                replicas=self.replicas,
                cpu=str(self.cpu),
                annotations=options,
                **(policy if self.kind is Service.STATEFUL_SET else {}),
            )
        )


def _service(scene: Scene, number: int) -> ServiceWorkload | None:
    own = [s for s in scene.cluster.services.values() if s.metadata.controller is None]
    return _one(own, number)


@dataclass(frozen=True)
class ServiceScaled:
    number: int
    replicas: int

    def __call__(self, scene: Scene) -> None:
        service = _service(scene, self.number)
        if service is not None:
            content = {"spec": {"replicas": self.replicas}}
            scene.cluster.patch_service(service.metadata.uid, content)


@dataclass(frozen=True)
class ServiceRolledOut:
    """Its template changes: back to one of before, or to a new one."""

    number: int
    cpu: int
    image: int

    def __call__(self, scene: Scene) -> None:
        service = _service(scene, self.number)
        if service is not None and not isinstance(service, ReplicaSet):
            other = a_service(
                type(service),
                service.metadata.name,
                cpu=str(self.cpu),
                template={"annotations": {"image": str(self.image)}},
            )
            scene.cluster.roll_out(service.metadata.uid, other.spec.template)


@dataclass(frozen=True)
class ServiceGoes:
    number: int

    def __call__(self, scene: Scene) -> None:
        service = _service(scene, self.number)
        if service is not None:
            scene.cluster.drop(service)


@dataclass(frozen=True)
class JobGoes:
    number: int

    def __call__(self, scene: Scene) -> None:
        job = _one(list(scene.cluster.jobs), self.number)
        if job is not None:
            scene.cluster.delete_job(job)


@dataclass(frozen=True)
class PodGoes:
    """A user deletes a pod of ours."""

    number: int

    def __call__(self, scene: Scene) -> None:
        pod = _one(scene.cluster.ours, self.number)
        if pod is not None:
            scene.cluster.delete_pod(pod.metadata.uid)


@dataclass(frozen=True)
class JobScaled:
    number: int
    pods: int

    def __call__(self, scene: Scene) -> None:
        job = _one(list(scene.cluster.jobs), self.number)
        if job is not None:
            scene.cluster.patch_job(job, {"spec": {"parallelism": self.pods}})


@dataclass(frozen=True)
class JobSuspended:
    """By its user, who later resumes it."""

    number: int
    suspended: bool

    def __call__(self, scene: Scene) -> None:
        job = _one(list(scene.cluster.jobs), self.number)
        if job is not None:
            scene.cluster.patch_job(job, {"spec": {"suspend": self.suspended}})


@dataclass(frozen=True)
class JobHeld:
    """Its user says not yet, or now."""

    number: int
    held: bool

    def __call__(self, scene: Scene) -> None:
        job = _one(list(scene.cluster.jobs), self.number)
        if job is not None:
            hold = {HOLD: "true" if self.held else None}
            scene.cluster.patch_job(job, {"metadata": {"annotations": hold}})


@dataclass(frozen=True)
class JobAsksForTime:
    """Its user gives it more or less time."""

    number: int
    walltime: int

    def __call__(self, scene: Scene) -> None:
        job = _one(list(scene.cluster.jobs), self.number)
        if job is not None:
            asked = {WALLTIME: f"{self.walltime}s"}
            scene.cluster.patch_job(job, {"metadata": {"annotations": asked}})


@dataclass(frozen=True)
class AdmissionChanges:
    """Pods that Jobs make from now on ask for this, whatever their template says; 0: no longer."""

    cpu: int

    def __call__(self, scene: Scene) -> None:
        scene.cluster.usual = str(self.cpu) if self.cpu else ""


# -- how pods do -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PodEnds:
    number: int
    ok: bool = True

    def __call__(self, scene: Scene) -> None:
        running = [p for p in scene.cluster.ours if p.status.phase == "Running"]
        pod = _one(running, self.number)
        if pod is not None:
            scene.cluster.end_pod(pod.metadata.uid, "Succeeded" if self.ok else "Failed")


@dataclass(frozen=True)
class JobsHesitate:
    """Jobs wait so long after a failure before they make another pod."""

    seconds: int

    def __call__(self, scene: Scene) -> None:
        scene.cluster.hesitation = self.seconds


@dataclass(frozen=True)
class PodsLinger:
    """Pods that are deleted take so much longer to end."""

    seconds: int

    def __call__(self, scene: Scene) -> None:
        scene.cluster.stop_time = self.seconds


@dataclass(frozen=True)
class PodsOutliveNodes:
    """Pods run on for so long after the object of their node is gone."""

    seconds: int

    def __call__(self, scene: Scene) -> None:
        scene.cluster.outlives = self.seconds


# -- nodes and others ------------------------------------------------------------------------------


@dataclass(frozen=True)
class NodeGoes:
    number: int

    def __call__(self, scene: Scene) -> None:
        node = scene.cluster.nodes.get(NODES[self.number % len(NODES)])
        if node is not None:
            scene.cluster.drop(node)


@dataclass(frozen=True)
class NodeComes:
    number: int

    def __call__(self, scene: Scene) -> None:
        name = NODES[self.number % len(NODES)]
        if name not in scene.cluster.nodes:
            scene.put(a_node(name))


@dataclass(frozen=True)
class NodeCloses:
    number: int
    closed: bool = True

    def __call__(self, scene: Scene) -> None:
        node = scene.cluster.nodes.get(NODES[self.number % len(NODES)])
        if node is not None:
            scene.put(replace(node, spec=replace(node.spec, unschedulable=self.closed)))


@dataclass(frozen=True)
class NodeDrained:
    """It is cordoned, and all pods of ours there are evicted."""

    number: int

    def __call__(self, scene: Scene) -> None:
        NodeCloses(self.number)(scene)
        for pod in scene.cluster.on(NODES[self.number % len(NODES)]):
            if is_ours(pod):
                scene.cluster.delete_pod(pod.metadata.uid)


@dataclass(frozen=True)
class NodeChanges:
    """It is larger or smaller, has a fast disk or none, and some of its devices."""

    number: int
    cpu: int
    fast: bool
    devices: int | None = 2

    def __call__(self, scene: Scene) -> None:
        name = NODES[self.number % len(NODES)]
        node = scene.cluster.nodes.get(name)
        if node is not None:
            new = a_node(name, cpu=self.cpu, fast=self.fast, devices=self.devices)
            scene.put(replace(new, spec=node.spec))


@dataclass(frozen=True)
class OtherComes:
    """A pod of another scheduler, which knows nothing of our plans, fits beside what is bound."""

    number: int
    cpu: int

    def __call__(self, scene: Scene) -> None:
        name = NODES[self.number % len(NODES)]
        if name in scene.cluster.nodes and scene.cluster.free(name)["cpu"] >= 1000 * self.cpu:
            pod = one_pod(
                scene.name("other"),
                uid=scene.uid(),
                cpu=str(self.cpu),
                scheduler=OTHERS,
                node=name,
            )
            scene.put(pod)


@dataclass(frozen=True)
class OtherGoes:
    number: int

    def __call__(self, scene: Scene) -> None:
        foreign: list[Pod] = [p for p in scene.cluster.pods.values() if not is_ours(p)]
        pod = _one(foreign, self.number)
        if pod is not None:
            scene.cluster.delete_pod(pod.metadata.uid)


# -- how well we do --------------------------------------------------------------------------------


@dataclass(frozen=True)
class ActionsGo:
    """How the next actions go."""

    luck: tuple[Luck, ...]

    def __call__(self, scene: Scene) -> None:
        scene.play.executor.luck.extend(self.luck)


@dataclass(frozen=True)
class NewsLag:
    """Of some kinds no news come until time passes."""

    kinds: frozenset[str]

    def __call__(self, scene: Scene) -> None:
        scene.play.lags = set(self.kinds)


@dataclass(frozen=True)
class SeenTwice:
    """A watch starts over and shows everything again."""

    def __call__(self, scene: Scene) -> None:
        scene.cluster.news += list(scene.cluster.everything())


@dataclass(frozen=True)
class Restart:
    """The controller is killed; perhaps the database is lost, too."""

    empty: bool = False

    def __call__(self, scene: Scene) -> None:
        scene.restart(empty=self.empty)


@dataclass(frozen=True)
class CrashAtCommit:
    """The controller is killed when its next decision is written down, or just before."""

    written: bool

    def __call__(self, scene: Scene) -> None:
        scene.crash_at_commit(written=self.written)


@dataclass(frozen=True)
class Away:
    """No controller runs for a while, in which things happen."""

    happenings: tuple[Happening, ...]
    seconds: int

    def __call__(self, scene: Scene) -> None:
        scene.away(self.happenings, self.seconds)


@dataclass(frozen=True)
class Pause:
    """The controller stands still for a while, in which things happen."""

    happenings: tuple[Happening, ...]
    seconds: int

    def __call__(self, scene: Scene) -> None:
        scene.pause(self.happenings, self.seconds)


@dataclass(frozen=True)
class Wait:
    seconds: int

    def __call__(self, scene: Scene) -> None:
        scene.wait(self.seconds)


@dataclass(frozen=True)
class AtOnce:
    """Several things happen before the controller looks; `late` during the commit."""

    first: tuple[Happening, ...]
    late: tuple[Happening, ...] = ()

    def __call__(self, scene: Scene) -> None:
        for happening in self.first:
            happening(scene)
        scene.play.meanwhile = lambda: self._happen_late(scene)
        scene.settle()

    def _happen_late(self, scene: Scene) -> None:
        for happening in self.late:
            happening(scene)
