"""Who made an object, and so whether its owner is to be believed.

Everybody who may create a pod may write any owner into it. What cannot be forged is the user of the
request, which the API server authenticated. So an owner counts only if the pod was made by one of
Kubernetes' own controllers. Other operators (MPIJob, MiniCluster...) run as accounts that any admin
of a namespace can make; pods that they make are queued one by one, or as the groups that their
labels name.
"""

from __future__ import annotations

from fluxnetes.cluster.labels.names import MIRROR
from fluxnetes.kube.objects.base import Metadata, Owner
from fluxnetes.webhook.review import AdmissionUser

CONTROLLERS = "system:kube-controller-manager"
"""The user of all controllers, where they have no accounts of their own."""
CONTROLLER_ACCOUNTS = "system:serviceaccount:kube-system:"
"""How their accounts begin. Whoever can act as one of these rules the cluster anyway."""
NODES = "system:node:"
"""How the users of kubelets begin."""


def is_controller(user: AdmissionUser) -> bool:
    """Whether the request comes from one of Kubernetes' own controllers."""
    return user.username == CONTROLLERS or user.username.startswith(CONTROLLER_ACCOUNTS)


def believed_owner(metadata: Metadata, user: AdmissionUser) -> Owner | None:
    """The workload that manages the object, unless that is only a claim."""
    return metadata.controller if is_controller(user) else None


def is_mirror(metadata: Metadata, user: AdmissionUser) -> bool:
    """Whether a kubelet tells of a pod that runs already."""
    return MIRROR in metadata.annotations and user.username.startswith(NODES)
