"""Identifies the requester of an object, and so whether its owner reference is trusted.

Every user who may create a pod may write any owner into it. What cannot be forged is the user of
the request, which the API server authenticated. So an owner counts only if one of Kubernetes' own
controllers created the pod. Other operators (MPIJob, MiniCluster...) run as accounts that any
administrator of a namespace can create; their pods are queued one by one, or as the groups that
their labels name.
"""

from __future__ import annotations

from fluxnetes.cluster.labels.names import MIRROR
from fluxnetes.kube.objects.base import Metadata, Owner
from fluxnetes.webhook.review import AdmissionUser

CONTROLLERS = "system:kube-controller-manager"
"""The user of all controllers, where they have no service accounts of their own."""
CONTROLLER_ACCOUNTS = "system:serviceaccount:kube-system:"
"""Prefix of their service accounts. A user who can act as one of these controls the cluster."""
NODES = "system:node:"
"""Prefix of the users of kubelets."""


def is_controller(user: AdmissionUser) -> bool:
    """Whether the request comes from one of Kubernetes' own controllers."""
    return user.username == CONTROLLERS or user.username.startswith(CONTROLLER_ACCOUNTS)


def trusted_owner(metadata: Metadata, user: AdmissionUser) -> Owner | None:
    """The workload that manages the object, unless the reference is only a claim."""
    return metadata.controller if is_controller(user) else None


def is_mirror(metadata: Metadata, user: AdmissionUser) -> bool:
    """Whether the pod is the mirror of a static pod, which its kubelet runs already."""
    return MIRROR in metadata.annotations and user.username.startswith(NODES)
