"""Imported for its effect: servers that do not wait for the disk.

What is killed with -9 loses nothing that it wrote, synced or not; only a power cut needs that, and
no test here cuts the power. On a busy disk the tests are several times quicker so.
"""

from __future__ import annotations

from fluxnetes.store.embedded import cluster

cluster.SETTINGS["fsync"] = "off"
cluster.INITDB_OPTIONS.append("--no-sync")
