"""The page about PodGroups names what is written."""

from __future__ import annotations

import re
from pathlib import Path

from fluxnetes.controller.reporting.pod_groups import native, plugins
from fluxnetes.kube.objects.podgroups import NATIVE_POD_GROUPS, POD_GROUPS

PAGE = (Path(__file__).parents[5] / "docs" / "reference" / "podgroups.md").read_text()


def test_the_page_has_all_phases_in_order() -> None:
    phases = (
        *(plugins.PENDING, plugins.PRE_SCHEDULING, plugins.SCHEDULING, plugins.SCHEDULED),
        *(plugins.RUNNING, plugins.UNKNOWN, plugins.FINISHED, plugins.FAILED),
    )
    (section,) = re.findall(r"(?ms)^## Status of scheduler-plugins(.*?)^## ", PAGE)
    assert tuple(re.findall(r"(?m)^\| `(\w+)` \|", section)) == phases


def test_the_page_has_the_condition_and_the_reasons_of_every_version() -> None:
    for resource in NATIVE_POD_GROUPS:
        assert f"`{resource.type.SCHEDULED}`" in PAGE
    for reason in (native.SCHEDULED, native.UNSCHEDULABLE, native.ERROR):
        assert f"`{reason}`" in PAGE


def test_the_page_has_every_version_that_is_understood() -> None:
    versions = [*(each.api_version for each in NATIVE_POD_GROUPS), POD_GROUPS.api_version]
    assert [each for each in versions if f"`{each}`" not in PAGE] == []
