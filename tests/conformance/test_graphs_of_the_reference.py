"""Requests of our own on graphs of the reference, where the folder that holds them is at hand.

On `mtl3` each mtl1unit is below its rack and below an mtl2unit; `power` has two subsystems.
"""

from __future__ import annotations

import pytest

from fluxnetes.graph.columns import ResourceGraph
from fluxnetes.graph.readers import read_graph
from fluxnetes.graph.writers import render
from fluxnetes.jobspec.build import core, jobspec, node, res, slot
from fluxnetes.jobspec.model import Jobspec, Resource
from fluxnetes.match.answers import Answer, Outcome
from fluxnetes.match.matcher import Matcher
from tests.conformance.test_reference_sessions import FOLDER

GRUGS = FOLDER / "t" / "data" / "resource" / "grugs"

pytestmark = pytest.mark.skipif(
    not GRUGS.exists(), reason="the graphs of the reference are not here"
)

EVERY_POLICY = pytest.mark.parametrize(
    "policy", ["first", "firstnodex", "high", "low", "hinode", "lonode", "hinodex", "lonodex"]
)


def graph(name: str) -> ResourceGraph:
    return read_graph((GRUGS / name).read_bytes(), "grug")


def storage(*above: str, size: int = 1024) -> Resource:
    """SSDs of so many GB in one mtl1unit, below some levels."""
    found = res("mtl1unit", 1, res("ssd", size, exclusive=True))
    for level in reversed(above):
        found = res(level, 1, found)
    return found


def job(*resources: Resource) -> Jobspec:
    return jobspec(*resources, duration=57600)


def lines(made: Matcher, answer: Answer) -> list[str]:
    assert answer.placement is not None, answer.reason
    return [line.strip() for line in render("simple", made.graph, answer.placement).splitlines()]


@EVERY_POLICY
def test_each_level_of_storage_reaches_the_same_disks(policy: str) -> None:
    made = Matcher(graph("mt-storage/mtl3.graphml"), policy=policy)
    by_rack, by_unit = job(storage("rack")), job(storage("mtl2unit"))
    took: list[str] = []
    for asked in (by_rack, by_unit) * 4:
        shown = lines(made, made.allocate(asked))
        assert len(shown) == 5
        above = "rack" if asked is by_rack else "mtl2unit"
        assert shown[3].startswith(f"------{above}")
        took += [disk + shown[2] for disk in shown[:2]]
    assert len(set(took)) == 16, "all disks of both units, each once"
    assert made.allocate(by_rack).outcome is Outcome.BUSY
    assert made.allocate(by_unit).outcome is Outcome.BUSY


@pytest.mark.parametrize(("policy", "number"), [("low", 0), ("high", 1), ("first", 1)])
def test_storage_of_the_second_level_beside_a_rack(policy: str, number: int) -> None:
    made = Matcher(graph("mt-storage/mtl3.graphml"), policy=policy)
    compute = res("rack", 1, node(1, slot(1, res("socket", 1, core(18)))))
    shown = lines(made, made.allocate(job(compute, storage("mtl2unit"))))
    first, second = (0, 1) if number == 0 else (6, 7)
    assert shown[-6:] == [
        f"------rack{number}[1:s]",
        f"------------ssd{first}[512:x]",
        f"------------ssd{second}[512:x]",
        f"---------mtl1unit{number}[1:s]",
        "------mtl2unit0[1:s]",
        "---mtl3-test0[1:s]",
    ]


@EVERY_POLICY
@pytest.mark.parametrize("subsystems", [("containment",), ("containment", "power")])
def test_power_is_no_part_of_what_containment_holds(
    policy: str, subsystems: tuple[str, ...]
) -> None:
    asked = jobspec(slot(1, res("power", 1), node(1)), duration=10)
    made = Matcher(graph("power.graphml"), policy=policy, subsystems=subsystems)
    assert made.allocate(asked).outcome is Outcome.BUSY
    assert not made.satisfiable(asked)


@EVERY_POLICY
def test_power_and_a_node_come_from_one_unit(policy: str) -> None:
    asked = jobspec(slot(1, res("power", 1), node(1)), duration=10)
    made = Matcher(graph("power.graphml"), policy=policy, subsystems=("power",))
    shown = lines(made, made.allocate(asked))
    assert shown[-1] == "---powerpanel0[1:s]"
    assert shown[-2].startswith("------pdu")
