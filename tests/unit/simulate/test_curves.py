"""The numbers behind the curves of a report, computed by its own script in Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="no Node.js was found; apt-get install nodejs")

PARTS = ("times.js", "lines.js")
PROGRAM = """
const view = { from: 0, to: 1 };
%s
const { up, down, size, from, to, points } = JSON.parse(process.argv[1]);
Object.assign(view, { from, to });
const steps = stepsOf(up, down, (job) => size[job]);
const { least, most } = extremes(steps, points);
console.log(JSON.stringify({
  means: Array.from(means(steps, points)), least: Array.from(least), most: Array.from(most),
  crowded: isCrowded(steps, points),
}));
"""


def computed(up: list[int], down: list[int], size: list[int], to: int, points: int) -> Any:
    parts = "\n".join((files("fluxnetes.simulate") / "page" / each).read_text() for each in PARTS)
    given = {"up": up, "down": down, "size": size, "from": 0, "to": to, "points": points}
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", PROGRAM % parts, json.dumps(given)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("seed", range(4))
def test_each_point_of_a_long_trace_is_the_mean_least_and_most_of_its_span(seed: int) -> None:
    random = np.random.default_rng(seed)
    up = random.integers(0, 900, 400)
    down = up + random.integers(1, 100, 400)
    size = random.integers(1, 9, 400)
    found = computed(up.tolist(), down.tolist(), size.tolist(), to=1000, points=50)
    value = np.zeros(1000)
    for start, end, amount in zip(up, down, size, strict=True):
        value[start:end] += amount
    spans = value.reshape(50, 20)
    assert found["means"] == pytest.approx(spans.mean(axis=1).tolist())
    assert found["least"] == spans.min(axis=1).tolist()
    assert found["most"] == spans.max(axis=1).tolist()
    assert found["crowded"]


def test_a_short_trace_is_not_crowded() -> None:
    assert not computed([0, 5], [3, 9], [1, 2], to=10, points=50)["crowded"]
