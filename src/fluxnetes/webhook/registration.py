"""The registration: which requests the API server sends to the webhook.

This module builds the MutatingWebhookConfiguration as data. There are two ways to opt in and so two
webhooks: by a label of the namespace, and by a label of the object in a namespace without it. With
`everything` there is one, for all namespaces.

    while the webhook is down   Fail: objects that opted in cannot be created
    always exempt               kube-system, kube-node-lease, kube-public, the webhook's namespace
    only                        CREATE of pods, jobs (batch/v1) and services (apps/v1), and UPDATE
                                of services; no subresources, and so no scaling
    excluded by CONDITIONS      objects that the webhook would not change: pods and ReplicaSets that
                                Kubernetes' own controllers create for a workload, services whose
                                template stays as it is, and kubelets' mirror pods

Because of the last line, running Jobs, services and DaemonSets continue while the webhook is down.
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
from fluxnetes.webhook.mutate import BUILT_IN, SERVICES, AdmissionPolicy
from fluxnetes.webhook.requester import CONTROLLER_ACCOUNTS, CONTROLLERS, NODES

NAME = "fluxnetes"
PATH = "/mutate"
MANAGER = "fluxnetes-webhook"
TIMEOUT_SECONDS = 5
"""Seconds that the API server waits for a response."""

_NAMESPACE = "kubernetes.io/metadata.name"
"""A label that the API server itself sets on every namespace."""

Content = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WebhookService:
    """The API server reaches the webhook through a service of the cluster."""

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
    """The API server reaches the webhook at an address."""

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
_IS_JOB = "request.resource.resource == 'jobs'"
_HAS_MAKER = "request.resource.resource in ['pods', 'replicasets']"
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
        "name": "nothing-that-a-controller-makes-for-a-workload",
        "expression": f"!({_HAS_MAKER} && {_OF_CONTROLLER} && {_HAS_OWNER})",
    },
    {
        "name": "no-service-whose-template-stays-as-it-is",
        "expression": (
            "request.operation != 'UPDATE' || object.spec.template != oldObject.spec.template"
        ),
    },
    {
        "name": "no-mirror-pod-of-a-kubelet",
        "expression": f"!({_IS_POD} && {_IS_MIRROR})",
    },
    {
        "name": "no-job-that-another-controller-manages",
        "expression": (
            f"!({_IS_JOB}) || !has(object.spec.managedBy) || object.spec.managedBy == '{BUILT_IN}'"
        ),
    },
)
"""Match conditions in CEL, which the API server evaluates before it calls the webhook; `requester`
implements the same rules in Python."""


def registration(
    reach: Reach, bundle: bytes, policy: AdmissionPolicy, *, everything: bool
) -> Content:
    """The content of the registration; `bundle` has the authorities to trust."""
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
        "rules": [
            _rule("", "pods", "CREATE"),
            _rule("batch", "jobs", "CREATE"),
            *(_rule(group, plural, "CREATE", "UPDATE") for group, plural in SERVICES),
        ],
        "namespaceSelector": {"matchExpressions": namespaces},
        "objectSelector": {"matchExpressions": objects},
        "matchConditions": list(CONDITIONS),
        "matchPolicy": "Equivalent",
        # A later webhook may change the scheduler's name; then this one must run again.
        "reinvocationPolicy": "IfNeeded",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "admissionReviewVersions": ["v1"],
    }


def _rule(group: str, resource: str, *operations: str) -> Content:
    return {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "resources": [resource],
        "operations": list(operations),
        "scope": "Namespaced",
    }


async def register(client: KubeClient, content: Content) -> None:
    """Apply the registration. Repeated, it changes nothing, or repairs changes of others."""
    await client.patch(REGISTRATIONS, NAME, apply(content, manager=MANAGER))


async def unregister(client: KubeClient) -> None:
    """Delete the registration, for a webhook that is removed."""
    try:
        await client.delete(REGISTRATIONS, NAME)
    except NotFound:
        return
