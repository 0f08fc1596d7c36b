"""Leases, for leader election."""

from __future__ import annotations

from fluxnetes.kube.objects.base import Object, Part, Resource


class LeaseSpec(Part, frozen=True):
    """The holder of a lease, and since when.

    The times stay text: clocks differ between machines, so a follower only compares whether
    `renew_time` changes. Write them with `times.micro_time`.
    """

    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time: str = ""
    renew_time: str = ""
    lease_transitions: int = 0


class Lease(Object, frozen=True):
    """A Lease."""

    spec: LeaseSpec = LeaseSpec()


LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", Lease)
