"""The report in a real browser: it draws, zooms, shows details, and loads nothing.

A driver is put into the page that does what a reader does and writes down what then is to be seen.
It needs Chromium (Debian: apt-get install chromium); without one these tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from fluxnetes.simulate.report import write_report
from fluxnetes.simulate.workload import Workload
from tests.oracle.textbook import simulate
from tests.unit.simulate.jobs import schedule, textbook_jobs, workload

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium was found; apt-get install chromium, or set CHROMIUM"
)

SMALL = workload((0, 100, 100, 3), (1, 100, 100, 4), (2, 50, 60, 1))

DRIVER = """
<pre id="seen"></pre>
<script>
const seen = {errors: []};
addEventListener("error", (event) => seen.errors.push(event.message));
addEventListener("securitypolicyviolation", (event) => seen.errors.push(event.blockedURI));
const frame = () => new Promise((done) => setTimeout(done, 100));
const text = (id) => document.getElementById(id).textContent;
const at = (canvas, x, y) => {
  const box = canvas.getBoundingClientRect();
  return {clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true};
};
const point = (id, x, y) => {
  const canvas = document.getElementById(id);
  canvas.dispatchEvent(new PointerEvent("pointermove", at(canvas, x, y)));
  return document.getElementById("tip").hidden ? null : text("tip");
};
const painted = (id) => {
  const canvas = document.getElementById(id);
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return pixels.reduce((sum, value, i) => sum + (i % 4 === 3 && value > 0), 0);
};
addEventListener("load", async () => {
  try {
    await frame();
    BODY
  } catch (error) {
    seen.errors.push(String(error));
  }
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script>
"""


def seen_in(page: str, body: str, folder: Path) -> dict[str, Any]:
    """What the driver saw on a page."""
    file = folder / "report.html"
    file.write_text(page.replace("</body>", DRIVER.replace("BODY", body) + "</body>"))
    assert CHROMIUM is not None
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    flags += ["--window-size=1200,900", "--virtual-time-budget=20000", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *flags, file.as_uri()], capture_output=True, text=True, check=True
    )
    (found,) = re.findall(r'(?s)<pre id="seen">(.*?)</pre>', done.stdout)
    result: dict[str, Any] = json.loads(unescape(found))
    assert result["errors"] == []
    return result


def report_of(work: Workload, nodes: int, *policies: str) -> str:
    runs = [(name, simulate(textbook_jobs(work), nodes, name)) for name in policies]
    return write_report([schedule(work, starts, nodes, name) for name, starts in runs])


def test_pointing_at_a_job_tells_about_it(tmp_path: Path) -> None:
    seen = seen_in(
        report_of(SMALL, 4, "easy"),
        """
        seen.first = point("gantt", 0.2, 0.1);
        seen.third = point("gantt", 0.15, 0.85);
        seen.nothing = point("gantt", 0.4, 0.85);
        seen.usage = point("usage", 0.2, 0.5);
        seen.queue = point("queue", 0.2, 0.5);
        """,
        tmp_path,
    )
    assert seen["first"].startswith("Job 1 on 3 processors (0-2)\n")
    assert "started in order" in seen["first"]
    assert seen["third"].startswith("Job 3 on 1 processors (3)\n")
    assert "ran 00:00:50 of 00:01:00" in seen["third"]
    assert "backfilled: an earlier job was waiting" in seen["third"]
    assert seen["nothing"] is None
    assert seen["usage"].splitlines()[-1] == "easy: 4"
    assert seen["queue"].splitlines()[-1] == "easy: 1"


def test_zooming_moves_what_is_under_the_pointer(tmp_path: Path) -> None:
    seen = seen_in(
        report_of(SMALL, 4, "easy"),
        """
        const gantt = document.getElementById("gantt");
        seen.before = point("usage", 0.75, 0.5).split("\\n")[0];
        for (let i = 0; i < 6; i++)
          gantt.dispatchEvent(new WheelEvent("wheel",
            {...at(gantt, 0.1, 0.5), deltaY: -100, cancelable: true}));
        await frame();
        seen.after = point("usage", 0.75, 0.5).split("\\n")[0];
        document.querySelector("[data-move=all]").click();
        await frame();
        seen.all = point("usage", 0.75, 0.5).split("\\n")[0];
        gantt.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
        gantt.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
        await frame();
        seen.keys = point("usage", 0.75, 0.5).split("\\n")[0];
        """,
        tmp_path,
    )
    assert seen["after"] < seen["before"] == seen["all"]
    assert seen["keys"] not in (seen["all"], seen["after"])


def test_another_policy_is_shown_when_it_is_chosen(tmp_path: Path) -> None:
    seen = seen_in(
        report_of(SMALL, 4, "easy", "fcfs"),
        """
        const rows = () => [...document.querySelectorAll("#jobs tbody tr")]
          .map((row) => [...row.children].map((cell) => cell.textContent));
        seen.easy = rows();
        document.querySelector("input[value=fcfs]").click();
        seen.fcfs = rows();
        seen.title = text("jobs-policy");
        seen.label = document.getElementById("queue").getAttribute("aria-label");
        """,
        tmp_path,
    )
    assert [row[3] for row in seen["easy"]] == ["00:00:00", "00:01:40", "00:00:02"]
    assert [row[8] for row in seen["easy"]] == ["", "", "yes"]
    assert [row[3] for row in seen["fcfs"]] == ["00:00:00", "00:01:40", "00:03:20"]
    assert seen["title"] == "fcfs"
    assert seen["label"] == "Jobs that wait over time. Under fcfs at most 2."


def test_ten_thousand_jobs_are_drawn_and_paged(tmp_path: Path) -> None:
    jobs = [(i * 3, 5 + i * 7919 % 60, 5 + i * 7919 % 60, 1 + i * 31 % 16) for i in range(10_000)]
    seen = seen_in(
        report_of(workload(*jobs), 256, "easy"),
        """
        seen.painted = ["gantt", "usage", "queue"].map(painted);
        seen.page = text("page");
        document.getElementById("after").click();
        seen.next = document.querySelector("#jobs tbody td").textContent;
        const find = document.getElementById("find");
        find.value = "9999";
        find.dispatchEvent(new Event("input"));
        seen.found = document.querySelector("#jobs tbody td").textContent;
        """,
        tmp_path,
    )
    gantt, usage, queue = seen["painted"]
    assert gantt > 100_000
    assert min(usage, queue) > 5_000
    assert seen["page"] == "page 1 of 400"
    assert (seen["next"], seen["found"]) == ("26", "9999")


def test_a_report_without_jobs_is_no_broken_page(tmp_path: Path) -> None:
    seen = seen_in(report_of(workload(), 4, "easy"), 'seen.page = text("page");', tmp_path)
    assert seen["page"] == "page 1 of 1"
