"""Every type has one name, every package has an index, and no folder is too full to read."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.unit.architecture.tree import Package, packages, public_types

MAX_MODULES = 16
"""Modules in one folder, so that a listing fits on a screen and is read to its end."""

FREE_TO_REPEAT = (
    "fluxnetes.kube.objects.",  # Kubernetes gave these names
    "fluxnetes.client.",  # callers see a job as `Job`, whatever the service calls it inside
)
EVERY_PACKAGE = pytest.mark.parametrize("package", packages(), ids=lambda each: each.name)


def test_a_public_type_name_exists_once() -> None:
    modules = defaultdict(list)
    for each in public_types():
        if not each.module.startswith(FREE_TO_REPEAT):
            modules[each.name].append(each.module)
    assert {name: where for name, where in modules.items() if len(where) > 1} == {}


@EVERY_PACKAGE
def test_a_package_names_its_modules_in_its_docstring(package: Package) -> None:
    missing = {*package.modules, *package.subpackages} - package.indexed()
    assert not missing, f"the docstring of {package.name} does not name {sorted(missing)}"


@EVERY_PACKAGE
def test_the_index_of_a_package_is_written(package: Package) -> None:
    assert "TODO" not in package.docstring


@EVERY_PACKAGE
def test_a_folder_can_be_taken_in_at_a_glance(package: Package) -> None:
    assert len(package.modules) <= MAX_MODULES, package.modules
