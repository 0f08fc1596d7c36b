"""The programs of a control plane, without which these tests are skipped, loudly."""

from __future__ import annotations

from tests.integration.kube.conftest import binaries

__all__ = ["binaries"]
