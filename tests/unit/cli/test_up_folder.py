"""The folder of `fluxnetes up`: which version of Kubernetes runs on its data."""

from __future__ import annotations

from pathlib import Path

import pytest

from fluxnetes.cli.up.folder import UpFolder, make_folder
from fluxnetes.plane.errors import PlaneFailed


@pytest.fixture
def folder(tmp_path: Path) -> UpFolder:
    return make_folder(tmp_path / "up")


def test_a_new_folder_leaves_the_version_open(folder: UpFolder) -> None:
    assert folder.choose_kubernetes(None) is None
    assert folder.choose_kubernetes("1.37") == "1.37"


def test_a_folder_keeps_its_version_until_another_is_asked_for(folder: UpFolder) -> None:
    folder.keep_kubernetes("1.36")
    assert folder.choose_kubernetes(None) == "1.36"
    assert folder.choose_kubernetes("1.37") == "1.37"


def test_the_data_of_a_newer_version_are_not_given_to_an_older_one(folder: UpFolder) -> None:
    folder.keep_kubernetes("1.37")
    with pytest.raises(PlaneFailed, match=r"Kubernetes 1\.37, which 1\.36 cannot read; use"):
        folder.choose_kubernetes("1.36")
    assert folder.choose_kubernetes(None) == "1.37"


def test_a_version_that_never_ran_is_not_remembered(folder: UpFolder) -> None:
    folder.choose_kubernetes("1.37")
    assert folder.choose_kubernetes("1.36") == "1.36"
