"""The versions of Kubernetes that a control plane can have.

Each is pinned by a Go module of its own, `controlplane/VERSION`, which names the release and its
checksums. All built versions stay in the cache side by side.
"""

from __future__ import annotations

PINNED = ("1.36", "1.37")
"""The minor versions that can be built, the oldest first."""

DEFAULT = "1.36"
"""The version that runs where none is asked for."""

_NATIVE_GROUPS = {
    "1.36": ("v1alpha2", ("GenericWorkload", "TopologyAwareWorkloadScheduling")),
    "1.37": ("v1beta1", ("GenericWorkload", "TopologyAwareWorkloadScheduling", "WorkloadWithJob")),
}
"""The version in which the API server has PodGroups, and the feature gates that switch on them, all
of their fields, and what Jobs say of them. The version of 1.36 is not served by 1.37 any more."""


def native_group_version(kubernetes: str) -> str:
    """The version of the API group scheduling.k8s.io in which a minor version has PodGroups."""
    return _NATIVE_GROUPS[kubernetes][0]


def native_group_gates(kubernetes: str) -> str:
    """The argument of any program that switches on PodGroups, which are off by default."""
    _, gates = _NATIVE_GROUPS[kubernetes]
    return f"--feature-gates={','.join(f'{gate}=true' for gate in gates)}"


def native_group_arguments(kubernetes: str) -> tuple[str, ...]:
    """The same of an API server, which also has to serve them."""
    version = native_group_version(kubernetes)
    return (
        native_group_gates(kubernetes),
        f"--runtime-config=scheduling.k8s.io/{version}=true",
    )


def is_older(kubernetes: str, other: str) -> bool:
    """Whether a minor version is older than another.

    >>> is_older("1.9", "1.36")
    True
    """
    return _numbers(kubernetes) < _numbers(other)


def _numbers(kubernetes: str) -> tuple[int, ...]:
    return tuple(map(int, kubernetes.split(".")))
