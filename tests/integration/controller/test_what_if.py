"""`fluxnetes simulate --from-store` on the queue of a controller that runs."""

from __future__ import annotations

import json
import time

import pytest

from fluxnetes.cli.entry import main
from fluxnetes.store.embedded.server import EmbeddedServer
from tests.integration.controller.objects import a_pod
from tests.integration.controller.space import Space
from tests.integration.controller.stage import Stage

WALLTIME = 300


def test_the_store_knows_where_pods_may_go(
    stage: Stage, space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rules that no pod had when the controller started are on the graph that is stored."""
    stage.add_node("special", disk="fast")
    only_there = {"disk": "fast"}
    for name in ("first", "second"):
        pod = a_pod(name).with_cpu(12).with_walltime(WALLTIME)
        space.create(pod.with_spec(nodeSelector=only_there))
    space.until_bound("first")
    space.until_waits("second")
    dsn = EmbeddedServer(stage.folder / "store").dsn
    assert main(["simulate", "--from-store", "--dsn", dsn, "--json", "-"]) == 0
    today = json.loads(capsys.readouterr().out)["scenarios"]["today"]
    assert today["no_start"] == {}
    [second] = today["jobs"]
    assert second["start"] == pytest.approx(time.time() + WALLTIME, abs=WALLTIME / 2)
