"""Objects as a real API server sends them, with all that we skip."""

from __future__ import annotations

from typing import Any

_TIME = "2026-01-02T03:04:05Z"


def a_pod(number: int, version: int) -> dict[str, Any]:
    """A running pod of an indexed Job, a little over 5 kB."""
    name = f"gang-{number // 20}-{number % 20}-x7k2p"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(name, number, version),
        "spec": _spec(number),
        "status": _status(number),
    }


def _metadata(name: str, number: int, version: int) -> dict[str, Any]:
    job = f"gang-{number // 20}"
    return {
        "name": name,
        "generateName": f"{job}-{number % 20}-",
        "namespace": f"team-{number % 7}",
        "uid": f"6f1c7f0e-0000-4000-8000-{number:012d}",
        "resourceVersion": str(version),
        "generation": 1,
        "creationTimestamp": _TIME,
        "labels": {
            "batch.kubernetes.io/controller-uid": f"aa1c7f0e-0000-4000-8000-{number // 20:012d}",
            "batch.kubernetes.io/job-completion-index": str(number % 20),
            "batch.kubernetes.io/job-name": job,
            "controller-uid": f"aa1c7f0e-0000-4000-8000-{number // 20:012d}",
            "job-name": job,
        },
        "annotations": {
            "batch.kubernetes.io/job-completion-index": str(number % 20),
            "fluxnetes.io/walltime": "30m",
        },
        "ownerReferences": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": job,
                "uid": f"aa1c7f0e-0000-4000-8000-{number // 20:012d}",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "finalizers": ["batch.kubernetes.io/job-tracking"],
        "managedFields": [_managed("kube-controller-manager"), _managed("kubelet")],
    }


def _managed(manager: str) -> dict[str, Any]:
    keys = ("f:image", "f:imagePullPolicy", "f:name", "f:resources", "f:terminationMessagePath")
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": _TIME,
        "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": {"f:labels": {".": {}, "f:job-name": {}, "f:controller-uid": {}}},
            "f:spec": {
                'f:containers{k:{"name":"app"}}': {key: {} for key in keys},
                "f:dnsPolicy": {},
                "f:enableServiceLinks": {},
                "f:restartPolicy": {},
                "f:schedulerName": {},
                "f:securityContext": {},
            },
        },
    }


def _spec(number: int) -> dict[str, Any]:
    return {
        "volumes": [{"name": "kube-api-access-7wq2p", "projected": _projected()}],
        "containers": [
            {
                "name": "app",
                "image": "registry.example/hpc/lammps:2026.1",
                "command": ["lmp", "-in", "in.reaxff.hns", "-v", "x", "8", "-v", "y", "8"],
                "env": [{"name": f"OMP_SETTING_{n}", "value": str(n)} for n in range(6)],
                "resources": {
                    "requests": {"cpu": "250m", "memory": "512Mi"},
                    "limits": {"cpu": "500m", "memory": "1Gi"},
                },
                "volumeMounts": [
                    {
                        "name": "kube-api-access-7wq2p",
                        "readOnly": True,
                        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                    }
                ],
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "serviceAccount": "default",
        "nodeName": f"node-{number % 1000}",
        "securityContext": {},
        "schedulerName": "fluxnetes",
        "tolerations": [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def _projected() -> dict[str, Any]:
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {
                "configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                }
            },
            {
                "downwardAPI": {
                    "items": [
                        {
                            "path": "namespace",
                            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                        }
                    ]
                }
            },
        ],
        "defaultMode": 420,
    }


def _status(number: int) -> dict[str, Any]:
    types = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    return {
        "phase": "Running",
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": _TIME,
                "observedGeneration": 1,
            }
            for kind in types
        ],
        "hostIP": f"10.0.{number % 1000 // 250}.{number % 250}",
        "hostIPs": [{"ip": f"10.0.{number % 1000 // 250}.{number % 250}"}],
        "podIP": f"10.244.{number // 250 % 250}.{number % 250}",
        "podIPs": [{"ip": f"10.244.{number // 250 % 250}.{number % 250}"}],
        "startTime": _TIME,
        "containerStatuses": [
            {
                "name": "app",
                "state": {"running": {"startedAt": _TIME}},
                "lastState": {},
                "ready": True,
                "restartCount": 0,
                "image": "registry.example/hpc/lammps:2026.1",
                "imageID": "registry.example/hpc/lammps@sha256:" + 64 * "b",
                "containerID": "containerd://" + 64 * "c",
                "started": True,
                "allocatedResources": {"cpu": "250m", "memory": "512Mi"},
                "resources": {
                    "requests": {"cpu": "250m", "memory": "512Mi"},
                    "limits": {"cpu": "500m", "memory": "1Gi"},
                },
            }
        ],
        "qosClass": "Burstable",
    }
