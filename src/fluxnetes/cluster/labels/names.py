"""All names that are shared with Kubernetes and with users: labels, annotations, gates, schedulers.

`docs/reference/labels.md` describes them for users; a test holds it to this module.

Any user who may write an object can write all of these. So what the controller *writes* (`WRITTEN`)
is for people to read and for recovery to start from, and is never trusted by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "fluxnetes.io/"

# --- what users write --------------------------------------------------------------------------

GROUP = "fluxnetes.io/group"
GROUP_SIZE = "fluxnetes.io/group-size"
MIN_SIZE = "fluxnetes.io/min-size"
MAX_SIZE = "fluxnetes.io/max-size"
WALLTIME = "fluxnetes.io/walltime"
QUEUE = "fluxnetes.io/queue"
EXCLUSIVE = "fluxnetes.io/exclusive"
PRIORITY = "fluxnetes.io/priority"
HOLD = "fluxnetes.io/hold"
BEGIN = "fluxnetes.io/begin"
INCOMPLETE = "fluxnetes.io/incomplete"
AFTER = "fluxnetes.io/after"
AFTER_OK = "fluxnetes.io/afterok"
AFTER_ANY = "fluxnetes.io/afterany"

MANAGED = "fluxnetes.io/managed"
"""A label. "true" on a namespace or an object: it is scheduled by our queue, whatever scheduler it
names. One object of a namespace that opted in cannot opt out: any other value on it is without
effect."""

ALLOCATION = "fluxnetes.io/allocation"
"""An annotation of a pod that another scheduler places: the number of the job, matched or submitted
over gRPC, whose share of the node the pod uses."""
JOBID = "fluxqueue/jobid"
"""A label: the same in Fluxqueue's dialect."""

SIZES = (GROUP_SIZE, MIN_SIZE, MAX_SIZE)
DEPENDENCIES = (AFTER, AFTER_OK, AFTER_ANY)
MARKS = frozenset(
    (GROUP, *SIZES, WALLTIME, QUEUE, EXCLUSIVE, PRIORITY, HOLD, BEGIN, *DEPENDENCIES, MANAGED)
) | {ALLOCATION, INCOMPLETE}

# --- what we write -----------------------------------------------------------------------------

JOB = "fluxnetes.io/job"
"""An annotation, written with the bind: the number of the job."""
TASK = "fluxnetes.io/task"
"""An annotation, written with the bind: the task of the job, and so the seat, of the pod."""

QUEUED = "fluxnetes.io/queued"
"""An annotation: "true" on a Job that we suspended, so we may release it; "owner" if we suspended
the JobSet that owns it. The gate has its name."""

WRITTEN = frozenset((JOB, TASK, QUEUED))

# --- what the kubelets of a local control plane read -------------------------------------------

PLAYED = frozenset(f"{PREFIX}{each}" for each in ("run-time", "exit-code", "refuse", "stop-time"))
"""Annotations by which users of `fluxnetes up` say how a pod behaves; schedulers ignore them."""

# --- gates and schedulers ----------------------------------------------------------------------

GATE = QUEUED
"""The scheduling gate that the webhook gives a bare pod."""
GATES = (GATE, "fluxqueue")
"""All gates that are removed from a pod that may start; the second is Fluxqueue's."""

SCHEDULER_NAMES = ("fluxnetes", "fluence", "fluxqueue", "FluxionScheduler")
"""The default list. The first is what the webhook writes."""

# --- dialects ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelDialect:
    """The keys by which users of one system name the group of a pod."""

    name: str
    group: str
    size: str
    of_object: bool = False
    """Whether the group's name is also that of a PodGroup, which then has the size."""
    annotations_only: bool = False
    """Whether its keys count only as annotations, and the name may be any name of an object."""


OURS = LabelDialect("fluxnetes.io", GROUP, GROUP_SIZE)

DIALECTS = (
    OURS,
    LabelDialect("fluxnetes", "fluxnetes.group-name", "fluxnetes.group-size"),
    LabelDialect(
        "fluence.flux-framework.org",
        "fluence.flux-framework.org/pod-group",
        "fluence.flux-framework.org/group-size",
    ),
    LabelDialect(
        "scheduling.x-k8s.io", "scheduling.x-k8s.io/pod-group", "fluence.group-size", of_object=True
    ),
    LabelDialect("fluence", "fluence.pod-group", "fluence.group-size"),
    LabelDialect("fluxqueue", "fluxqueue.pod-group", "fluxqueue.group-size"),
    LabelDialect(
        "scheduling.sigs.k8s.io",
        "pod-group.scheduling.sigs.k8s.io",
        "fluence.group-size",
        of_object=True,
    ),
    LabelDialect(
        "scheduling.volcano.sh",
        "scheduling.k8s.io/group-name",
        "scheduling.volcano.sh/group-min-member",
        of_object=True,
        annotations_only=True,
    ),
)
"""The first that is found wins. All but ours are supported for existing manifests."""


def size_key(dialect: str) -> str:
    """The key of a group's size in a dialect."""
    return next((each.size for each in DIALECTS if each.name == dialect), GROUP_SIZE)


JOBSPEC = "jobspec"
"""Part of a label's key; with the value `zone` it asked Fluence for one zone, and one node."""

# --- Kubernetes' own ---------------------------------------------------------------------------

HOSTNAME = "kubernetes.io/hostname"
MIRROR = "kubernetes.io/config.mirror"
"""An annotation: the pod mirrors a static pod of a kubelet."""
AVAILABILITY = "node.kubernetes.io/"
"""Prefix of the taints that say whether a node can be used now (cordoned, not ready, short of
memory). Such a node is closed; that is no rule about which pods it accepts."""
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
"""A label (before 1.28 an annotation): the number of a pod of an indexed Job."""
