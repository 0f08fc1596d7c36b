"""The programs of a control plane, and tests that are skipped loudly where there are none."""

from tests.integration.kube.conftest import binaries

__all__ = ["binaries"]
