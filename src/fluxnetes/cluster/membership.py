"""Decides which group an object belongs to, by what it names and how large that is.

    a pod of a workload    the group of its workload, whatever its own labels say
    any other pod          the group that it names; else it is a group of its own
    a workload             the group that it names, if it cannot fill that alone; else it is a group
                           of its own: two Jobs of one manifest are two gangs

What is named is a group label of any dialect or a PodGroup, and it does not matter which controller
made the objects that name it. A group is as large as labels say or, if none does, as the minimum of
its PodGroup. While that is not known (the PodGroup may be seen after the workload), a workload
counts as a group of its own, which waits for the PodGroup (`WorkloadGroup.waits_for_pod_group`).
"""

from __future__ import annotations

from fluxnetes.cluster.adapters import ADAPTERS
from fluxnetes.cluster.groups import LABELLED, POD, GroupKey, named_group
from fluxnetes.cluster.labels.parse import WorkloadLabels
from fluxnetes.kube.objects.base import Object
from fluxnetes.kube.objects.pods import Pod


def key_of_pod(pod: Pod, options: WorkloadLabels) -> GroupKey:
    """The group of a pod that no workload of ours created."""
    metadata = pod.metadata
    name = named_group(options, pod.spec)
    if name:
        return GroupKey(LABELLED, metadata.namespace, name)
    return GroupKey(POD, metadata.namespace, metadata.name, metadata.uid)


def key_of_workload(
    kind: str, workload: Object, options: WorkloadLabels, minimum: int | None
) -> GroupKey:
    """The group of a workload; `minimum` is that of the PodGroup with the name that it names."""
    adapter = ADAPTERS[kind]
    name = named_group(options, adapter.template(workload).spec)
    size = size_of_named(options, minimum)
    namespace, own = workload.key
    if name and size is not None and size > adapter.declared_size(workload):
        return GroupKey(LABELLED, namespace, name)
    return GroupKey(kind, namespace, own, workload.metadata.uid)


def size_of_named(options: WorkloadLabels, minimum: int | None) -> int | None:
    """How many pods the group has that an object names; None: nothing says so."""
    said = [size for size in (options.size, options.min_size) if size is not None]
    return max(said, default=minimum)
