"""Which requests the API server sends to us: the MutatingWebhookConfiguration, as data.

There are two ways to opt in and so two webhooks: by a label of the namespace, and by a label of the
object in a namespace that has none. With `everything` there is one, for all namespaces.

    while we are down        Fail: what opted in cannot be made
    never, whatever is set   kube-system, kube-node-lease, kube-public, our own namespace
    only                     CREATE of pods and of jobs (batch/v1); no updates, no subresources
    not even then            what we would leave alone anyway (`CONDITIONS`): pods that Kubernetes'
                             own controllers make for a workload, and kubelets' mirror pods

The last line is what keeps running Jobs and DaemonSets going while we are down.
"""

from __future__ import annotations

import base64
import ipaddress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fluxnetes.cluster.labels.names import MANAGED, MIRROR
from fluxnetes.kube.client import KubeClient
from fluxnetes.kube.errors import NotFound
from fluxnetes.kube.objects.registrations import REGISTRATIONS
from fluxnetes.kube.patches import apply
from fluxnetes.webhook.certificates import ServedAs
from fluxnetes.webhook.mutate import BUILT_IN, AdmissionPolicy
from fluxnetes.webhook.requester import CONTROLLER_ACCOUNTS, CONTROLLERS, NODES

NAME = "fluxnetes"
PATH = "/mutate"
MANAGER = "fluxnetes-webhook"
TIMEOUT_SECONDS = 5

_NAMESPACE = "kubernetes.io/metadata.name"
"""A label that the API server itself puts on every namespace."""

Content = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WebhookService:
    """The API server reaches us by a service of the cluster."""

    namespace: str
    name: str = "fluxnetes-webhook"
    port: int = 443

    @property
    def served_as(self) -> ServedAs:
        return ServedAs(names=(f"{self.name}.{self.namespace}.svc",))

    def client_config(self) -> Content:
        service = {"namespace": self.namespace, "name": self.name, "port": self.port}
        return {"service": {**service, "path": PATH}}


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """The API server reaches us at an address."""

    url: str
    """`https://127.0.0.1:9443`, without a path."""

    @property
    def served_as(self) -> ServedAs:
        host = urlsplit(self.url).hostname or ""
        try:
            return ServedAs(addresses=(str(ipaddress.ip_address(host)),))
        except ValueError:
            return ServedAs(names=(host,))

    def client_config(self) -> Content:
        return {"url": self.url.rstrip("/") + PATH}


Reach = WebhookService | WebhookAddress

_IS_POD = "request.resource.resource == 'pods'"
_OF_CONTROLLER = (
    f"(request.userInfo.username == '{CONTROLLERS}'"
    f" || request.userInfo.username.startsWith('{CONTROLLER_ACCOUNTS}'))"
)
_HAS_OWNER = (
    "has(object.metadata.ownerReferences)"
    " && object.metadata.ownerReferences.exists(owner, has(owner.controller) && owner.controller)"
)
_IS_MIRROR = (
    f"has(object.metadata.annotations) && '{MIRROR}' in object.metadata.annotations"
    f" && request.userInfo.username.startsWith('{NODES}')"
)
CONDITIONS = (
    {
        "name": "no-pod-that-a-controller-makes-for-a-workload",
        "expression": f"!({_IS_POD} && {_OF_CONTROLLER} && {_HAS_OWNER})",
    },
    {
        "name": "no-mirror-pod-of-a-kubelet",
        "expression": f"!({_IS_POD} && {_IS_MIRROR})",
    },
    {
        "name": "no-job-that-another-controller-manages",
        "expression": (
            f"{_IS_POD} || !has(object.spec.managedBy) || object.spec.managedBy == '{BUILT_IN}'"
        ),
    },
)
"""In CEL, by which the API server decides whether to ask us. `makers` says the same in Python."""


def registration(
    reach: Reach, bundle: bytes, policy: AdmissionPolicy, *, everything: bool
) -> Content:
    """What the API server is to be told; `bundle` is whom to trust."""
    exempt = {"key": _NAMESPACE, "operator": "NotIn", "values": list(policy.exempt)}
    is_in = {"key": MANAGED, "operator": "In", "values": ["true"]}
    is_out = {**is_in, "operator": "NotIn"}
    trusted = base64.b64encode(bundle).decode()
    client = {**reach.client_config(), "caBundle": trusted}
    if everything:
        return {"webhooks": [_webhook("all", client, [exempt], [])]}
    return {
        "webhooks": [
            _webhook("namespaces", client, [exempt, is_in], []),
            _webhook("objects", client, [exempt, is_out], [is_in]),
        ]
    }


def _webhook(
    name: str, client: Content, namespaces: list[Content], objects: list[Content]
) -> Content:
    return {
        "name": f"{name}.webhook.fluxnetes.io",
        "clientConfig": client,
        "rules": [_rule("", "pods"), _rule("batch", "jobs")],
        "namespaceSelector": {"matchExpressions": namespaces},
        "objectSelector": {"matchExpressions": objects},
        "matchConditions": list(CONDITIONS),
        "matchPolicy": "Equivalent",
        # A webhook after ours may change the scheduler's name; then we want to see it again.
        "reinvocationPolicy": "IfNeeded",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "admissionReviewVersions": ["v1"],
    }


def _rule(group: str, resource: str) -> Content:
    return {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "resources": [resource],
        "operations": ["CREATE"],
        "scope": "Namespaced",
    }


async def register(client: KubeClient, content: Content) -> None:
    """Make it so. Done again, it changes nothing, or repairs what somebody changed."""
    await client.patch(REGISTRATIONS, NAME, apply(content, manager=MANAGER))


async def unregister(client: KubeClient) -> None:
    """Ask us nothing any more: for a webhook that ends for good."""
    try:
        await client.delete(REGISTRATIONS, NAME)
    except NotFound:
        return
