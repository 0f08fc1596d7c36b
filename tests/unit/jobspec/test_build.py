"""Jobspecs built in one line are those that a reader would have read."""

from __future__ import annotations

from fluxnetes.jobspec import Count, Resource, parse_jobspec
from fluxnetes.jobspec.build import core, gpu, jobspec, memory, node, res, slot, xor_slot
from fluxnetes.jobspec.constraint import Properties
from tests.unit.jobspec.samples import RFC14


def test_a_built_request_equals_the_one_that_was_read() -> None:
    assert parse_jobspec(RFC14).resources == (node(4, slot(1, core(2))),)


def test_a_count_is_a_number_or_a_range() -> None:
    assert core().count == Count(1, 1)
    assert core(Count(1, 8, "*", 2)).count == Count(1, 8, "*", 2)


def test_children_labels_and_exclusivity_are_kept() -> None:
    built = res("ssd", 2, memory(4, unit="GB"), exclusive=True, label="fast")
    child = Resource("memory", Count(4, 4), unit="GB")
    assert built == Resource("ssd", Count(2, 2), (child,), exclusive=True, label="fast")
    assert slot(1, label="big").label == "big"
    assert xor_slot(1, gpu(1)).type == "xor_slot"


def test_a_jobspec_has_its_duration_queue_and_constraint() -> None:
    built = jobspec(core(1), gpu(1), duration=60, queue="q", constraint=Properties(("fast",)))
    assert [resource.type for resource in built.resources] == ["core", "gpu"]
    assert (built.duration, built.queue, built.constraint) == (60.0, "q", Properties(("fast",)))
    assert jobspec().duration == 0.0
