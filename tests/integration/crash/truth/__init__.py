"""Compares how Fluxnetes says that workloads ended with how Kubernetes says that they did.

    outcome        the truth table: what the objects of a workload say of its end
    workloads      the record, divided by workload
    said           what Fluxnetes says of a workload: its rows in the store, its FluxJob
    contradictions what a run left behind, by workload, and what a check may find
    ends           where the two differ
    dependents     whether work that depends on other work followed it
    suspended      whether Jobs that users suspended stayed so
    stuck          work that neither ended nor has a reason to wait
    writers        which client wrote what, from the API server's audit log
    history        everything that happened to one workload, to find out why

Nothing here uses the model of the controller: the truth comes from objects as etcd had them, and
from the audit log. All but the reader of the audit log is pure.
"""
