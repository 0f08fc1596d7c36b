"""What the configuration file says about the cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from fluxnetes.cli.controller.cluster_config import read_topology
from fluxnetes.cli.controller.config import read_cluster_config, read_config
from fluxnetes.cluster.topology import DEFAULT, ClusterTopology
from fluxnetes.queue.config import SchedulerConfig

RACKS = "topology: [cloud, example.com/rack]\n"


def file_of(folder: Path, text: str) -> Path:
    file = folder / "config.yaml"
    file.write_text(text)
    return file


def test_levels_are_read_from_the_file_that_has_the_queues(tmp_path: Path) -> None:
    file = file_of(tmp_path, RACKS + "queues: [{name: gpu}]\n")
    assert read_topology(file) == ClusterTopology.of(["cloud", "example.com/rack"])
    assert [queue.name for queue in read_cluster_config(file).scheduler.queues] == ["gpu"]


@pytest.mark.parametrize("text", ["", "queues: [{name: gpu}]\n"])
def test_a_file_that_says_nothing_has_zones(tmp_path: Path, text: str) -> None:
    assert read_topology(file_of(tmp_path, text)) == ClusterTopology.of(DEFAULT)
    assert read_topology(None) == ClusterTopology.of(DEFAULT)


def test_a_file_can_say_that_there_are_no_levels(tmp_path: Path) -> None:
    assert read_topology(file_of(tmp_path, "topology: []\n")) == ClusterTopology.of([])


def test_a_file_of_levels_alone_has_the_usual_queue(tmp_path: Path) -> None:
    assert read_cluster_config(file_of(tmp_path, RACKS)).scheduler == SchedulerConfig()


def test_only_a_kubernetes_cluster_has_levels(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="topology: there is no such setting"):
        read_config(file_of(tmp_path, RACKS))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("topology: cloud", "topology: expected a list of node labels, found 'cloud'"),
        ("topology: [1]", r"topology: expected a list of node labels, found \[1\]"),
        ("topology:", "topology: expected a list of node labels, found None"),
        ("topology: [rack]", "topology: found 'rack', expected a label or one of accelerator"),
        ("topology: {", "is not YAML"),
    ],
)
def test_what_is_wrong_is_said_with_the_path_to_it(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_topology(file_of(tmp_path, text))
