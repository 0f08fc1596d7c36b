"""Builders of reviews, and what the API server makes of the answers."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

from fluxnetes.webhook.mutate import AdmissionPolicy, decide
from fluxnetes.webhook.review import read_review, write_review

Content = dict[str, Any]

JOB_CONTROLLER = "system:serviceaccount:kube-system:job-controller"
DEPLOYMENT_CONTROLLER = "system:serviceaccount:kube-system:deployment-controller"
KUBELET = "system:node:node-0"


def a_pod(*, metadata: Content | None = None, **spec: Any) -> Content:
    container = {"name": "main", "image": "none", "resources": {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "team", "creationTimestamp": None}
        | (metadata or {}),
        "spec": {"containers": [container], "schedulerName": "default-scheduler"} | spec,
        "status": {},
    }


def a_job(
    *, metadata: Content | None = None, template: Content | None = None, **spec: Any
) -> Content:
    pod = a_pod(metadata={"name": ""}, **(template or {}).pop("spec", {}))
    pod_template = {"metadata": {"creationTimestamp": None}, "spec": pod["spec"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "a", "namespace": "team", "creationTimestamp": None}
        | (metadata or {}),
        "spec": {"parallelism": 2, "completions": 2, "suspend": False}
        | {"template": pod_template | (template or {})}
        | spec,
        "status": {},
    }


def a_service(
    kind: str = "Deployment",
    *,
    metadata: Content | None = None,
    template: Content | None = None,
    **spec: Any,
) -> Content:
    made = a_job(metadata=metadata, template=template)
    return {
        **made,
        "apiVersion": "apps/v1",
        "kind": kind,
        "spec": {"replicas": 2, "template": made["spec"]["template"]} | spec,
    }


def owned_by(kind: str, *, controller: bool = True) -> Content:
    owner = {"apiVersion": "batch/v1", "kind": kind, "name": "o", "uid": "1"}
    return {"ownerReferences": [{**owner, "controller": controller}]}


def a_review(made: Content, user: str = "eve", **request: Any) -> Content:
    group = made["apiVersion"].rpartition("/")[0]
    resource = {"group": group, "version": "v1", "resource": made["kind"].lower() + "s"}
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5",
            "resource": resource,
            "operation": "CREATE",
            "namespace": "team",
            "userInfo": {"username": user, "groups": ["system:authenticated"]},
            "object": made,
            "dryRun": False,
        }
        | request,
    }


def ask(made: Content, user: str = "eve", **request: Any) -> Content:
    """The response."""
    asked = read_review(json.dumps(a_review(made, user, **request)).encode())
    answer: Content = json.loads(write_review(asked, decide(asked, AdmissionPolicy())))
    response: Content = answer["response"]
    assert response["uid"] == "705ab4f5"
    return response


def admit(made: Content, user: str = "eve", **request: Any) -> Content:
    """The object as the API server stores it."""
    response = ask(made, user, **request)
    assert response["allowed"], response
    edits = json.loads(base64.b64decode(response["patch"])) if "patch" in response else []
    return patched(made, edits)


def refuse(made: Content, user: str = "eve") -> str:
    """Why it is refused."""
    response = ask(made, user)
    assert not response["allowed"]
    assert "patch" not in response
    message: str = response["status"]["message"]
    return message


def patched(made: Content, edits: list[Content]) -> Content:
    """JSON Patch, as far as we write it: `add`, whose parent must be there (RFC 6902)."""
    result = copy.deepcopy(made)
    for edit in edits:
        assert edit["op"] == "add"
        *parents, last = (
            part.replace("~1", "/").replace("~0", "~") for part in edit["path"].split("/")[1:]
        )
        target: Any = result
        for part in parents:
            target = target[part]
        if isinstance(target, list):
            assert last == "-"
            target.append(edit["value"])
        else:
            target[last] = edit["value"]
    return result
