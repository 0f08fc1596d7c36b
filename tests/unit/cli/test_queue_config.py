"""The file that sets up queues: what makes sense is read, and nothing else."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from typer import BadParameter

from fluxnetes.cli.controller.config import ClusterConfig, read_cluster_config, read_config
from fluxnetes.cli.up.options import _check_config as check_up
from fluxnetes.cluster.scope import WHOLE_CLUSTER, ClusterScope
from fluxnetes.queue.config import (
    BackfillPolicy,
    BudgetConfig,
    FairShare,
    LimitConfig,
    PriorityWeights,
    QueueConfig,
    SchedulerConfig,
)

UNITS = """
queues:
  - cap: {resources: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}}
    per_user: {resources: {cpu: 0.5, pods: 10}}
    per_namespace: {resources: {cpu: 250m}}
budgets:
  - {name: a, amount: 100}
  - {name: b, amount: 2.5, type: cpu}
  - {name: c, amount: 4, type: memory}
  - {name: d, amount: 8, type: nvidia.com/gpu}
charge: {cpu: 1, memory: 0.5, nvidia.com/gpu: 10}
"""

EVERYTHING = """
queues:
  - name: batch
    policy: hybrid
    reservations: 4
    depth: 100
    priority: -1
    constraint: {properties: [[ssd], []]}
    default_walltime: 600
    max_walltime: 3600
    grace: 0
    cap: {running: 8, resources: {cpu: 64000}}
    per_user: {pending: 3}
    per_namespace: {running: 0}
    unsatisfiable: reject
    growth: false
    resume_for_growth: true
    preempts: true
  - name: debug
weights: {age: 1, fair_share: 0.5}
age_cap: 3600
fair_share: {half_life: 60, namespaces: {lab: 2}, users: [[lab, ada, 1.5]]}
charge: {cpu: 1}
budgets: [{name: b, amount: 100, type: cpu, namespace: lab}]
"""


def read(folder: Path, text: str) -> SchedulerConfig:
    file = folder / "queues.yaml"
    file.write_text(text)
    return read_config(file)


def read_for_cluster(folder: Path, text: str) -> ClusterConfig:
    file = folder / "queues.yaml"
    file.write_text(text)
    return read_cluster_config(file)


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    config = read(tmp_path, EVERYTHING)
    first = config.queues[0]
    usual = QueueConfig()
    assert [
        each.name
        for each in fields(QueueConfig)
        if getattr(first, each.name) == getattr(usual, each.name)
    ] == []
    assert (first.policy, first.per_user) == (BackfillPolicy.HYBRID, LimitConfig(pending=3))
    assert config.queues[1] == QueueConfig("debug")
    assert config.weights == PriorityWeights(age=1, fair_share=0.5)
    assert config.fair_share == FairShare(60, {"lab": 2}, {("lab", "ada"): 1.5})
    assert config.budgets == (BudgetConfig("b", 100, "cpu", namespace="lab"),)
    assert (config.age_cap, config.charge) == (3600, {"cpu": 1})


def test_for_kubernetes_amounts_are_in_the_units_of_their_resource(tmp_path: Path) -> None:
    config = read_for_cluster(tmp_path, UNITS).scheduler
    (queue,) = config.queues
    most = {"cpu": 64_000, "memory": 512 * 1024, "nvidia.com/gpu": 8}
    assert queue.cap == LimitConfig(resources=most)
    assert queue.per_user == LimitConfig(resources={"cpu": 500, "pods": 10})
    assert queue.per_namespace == LimitConfig(resources={"cpu": 250})
    assert config.budgets == (
        BudgetConfig("a", 100_000, "cpu"),
        BudgetConfig("b", 2_500, "cpu"),
        BudgetConfig("c", 4_096, "memory"),
        BudgetConfig("d", 8, "nvidia.com/gpu"),
    )
    # A gpu counts as much as ten cpus, and two GiB as much as one cpu.
    assert config.charge["cpu"] * 10_000 == config.charge["nvidia.com/gpu"]
    assert config.charge["memory"] * 2048 == config.charge["cpu"] * 1000


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("queues: [{cap: {resources: {memory: 64}}}]", r"\.memory: expected a quantity with its"),
        ("queues: [{cap: {resources: {cpu: x}}}]", r"\.cpu: found 'x', expected a Kubernetes"),
        ("queues: [{cap: {resources: {cpu: -1}}}]", r"\.cpu: found '-1', expected a Kubernetes"),
        ("queues: [{cap: {resources: {cpu: true}}}]", r"\.cpu: expected a whole number"),
        ("queues: [{cap: {resources: 3}}]", r"\.resources: expected names with a value"),
        ("queues: [3]", r"queues\[0\]: expected settings"),
        ("budgets: [{name: b, amount: much}]", r"amount: expected a number"),
        ("budgets: [{name: b, amount: 1, type: 5}]", r"type: expected text"),
        ("charge: {cpu: much}", r"charge\.cpu: expected a number"),
        ("- 5", "top level: expected settings"),
    ],
)
def test_amounts_for_kubernetes_that_make_no_sense_are_refused(
    tmp_path: Path, text: str, wrong: str
) -> None:
    with pytest.raises(ValueError, match=rf"queues\.yaml: .*{wrong}"):
        read_for_cluster(tmp_path, text)


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}"])
def test_a_file_that_says_nothing_is_the_default(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == SchedulerConfig() == read_config(None)
    assert read_for_cluster(tmp_path, text) == ClusterConfig() == read_cluster_config(None)


NONSENSE = {
    "queues: [": " is not YAML: ",
    "hello": ": top level: expected settings, found 'hello'",
    "queue: []": ": queue: there is no such setting; there is age_cap, budgets",
    "queues: []": ": queues: expected at least one",
    "queues: easy": ": queues: expected a list, found 'easy'",
    "queues: [easy]": r": queues\[0\]: expected settings",
    "queues: [{}, {polcy: easy}]": r": queues\[1\]\.polcy: there is no such setting; .* policy",
    "queues: [{policy: lucky}]": r": queues\[0\]\.policy: expected one of fcfs, .* found 'lucky'",
    "queues: [{unsatisfiable: no}]": r"\.unsatisfiable: expected one of wait, reject, found False",
    "queues: [{name: 5}]": r": queues\[0\]\.name: expected text, found 5",
    "queues: [{name: ''}]": r": queues\[0\]\.name: expected text, found none",
    "queues: [{name: a}, {name: a}]": r": queues\[1\]\.name: another queue is already named a",
    "queues: [{max_walltime: soon}]": r": queues\[0\]\.max_walltime: expected a whole number",
    "queues: [{max_walltime: 0}]": r": queues\[0\]\.max_walltime: expected 1 or more, found 0",
    "queues: [{max_walltime: 2026-01-01}]": r": queues\[0\]\.max_walltime: expected a whole",
    "queues: [{max_walltime: 1, default_walltime: 2}]": r"default_walltime: 2 is more than",
    "queues: [{growth: sometimes}]": r": queues\[0\]\.growth: expected true or false, found 'some",
    "queues: [{preempts: 1}]": r": queues\[0\]\.preempts: expected true or false, found 1",
    "queues: [{priority: true}]": r": queues\[0\]\.priority: expected a whole number, found True",
    "queues: [{per_user: 3}]": r": queues\[0\]\.per_user: expected settings, found 3",
    "queues: [{cap: {resources: {cpu: x}}}]": r"\.cap\.resources\.cpu: expected a whole number",
    "queues: [{constraint: ssd}]": r": queues\[0\]\.constraint: expected settings",
    "queues: [{constraint: {colour: red}}]": " cannot be read: ",
    "weights: {age: .nan}": r": weights\.age: expected a number, found nan",
    "weights: {luck: 1}": r": weights\.luck: there is no such setting",
    "fair_share: {half_life: -1}": r": fair_share\.half_life: expected 1 or more",
    "fair_share: {users: [[lab, ada]]}": r": fair_share\.users\[0\]: expected a list of 2 names",
    "fair_share: {users: ada}": r": fair_share\.users\[0\]: expected a list of 2 names",
    "charge: [cpu]": ": charge: expected names with a value each",
    "budgets: [{name: b}]": r": budgets\[0\]\.amount: expected a value, found none",
}


@pytest.mark.parametrize("text", NONSENSE)
def test_what_makes_no_sense_is_refused_with_the_path_to_it(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=rf"queues\.yaml.*{NONSENSE[text]}"):
        read(tmp_path, text)


# -- which nodes and pods of a cluster count -------------------------------------------------------

SCOPE = """
node_selector: {pool: batch, node-role.kubernetes.io/worker: ""}
ignored_pods:
  - {app: health-check}
  - {app.kubernetes.io/name: prober, tier: infra}
queues: [{name: batch}]
"""


def test_which_nodes_and_pods_count_is_read_beside_the_queues(tmp_path: Path) -> None:
    config = read_for_cluster(tmp_path, SCOPE)
    assert config.scope == ClusterScope(
        {"pool": "batch", "node-role.kubernetes.io/worker": ""},
        ({"app": "health-check"}, {"app.kubernetes.io/name": "prober", "tier": "infra"}),
    )
    assert config.scheduler == SchedulerConfig(queues=(QueueConfig("batch"),))
    assert read_for_cluster(tmp_path, "node_selector: {}").scope == WHOLE_CLUSTER


WRONG_SCOPES = {
    "node_selector: batch": "node_selector: expected labels with a value each, found 'batch'",
    "node_selector: [pool]": "node_selector: expected labels with a value each",
    "node_selector:": "node_selector: expected labels with a value each, found None",
    "node_selector: {gpu: true}": r"node_selector\.gpu: expected .* text in quotes, found True",
    "node_selector: {gpu: 8}": r"node_selector\.gpu: expected .*, found 8",
    "node_selector: {gpu: }": r"node_selector\.gpu: expected .*, found None",
    "node_selector: {gpu: a b}": r"node_selector\.gpu: expected the value of a label.* 'a b'",
    f"node_selector: {{gpu: {'x' * 64}}}": r"node_selector\.gpu: expected the value of a label",
    "node_selector: {5: five}": "node_selector: expected the key of a label, found 5",
    "node_selector: {a/b/c: d}": "node_selector: expected the key of a label, found 'a/b/c'",
    "node_selector: {A.B/c: d}": "node_selector: expected the key of a label, found 'A.B/c'",
    "node_selector: {-pool: a}": "node_selector: expected the key of a label, found '-pool'",
    "ignored_pods: {app: prober}": "ignored_pods: expected a list of labels, found",
    "ignored_pods: [{}]": r"ignored_pods\[0\]: expected at least one label, found none",
    "ignored_pods: [{a: b}, prober]": r"ignored_pods\[1\]: expected labels with a value each",
    "ignored_pods: [{app: 1}]": r"ignored_pods\[0\]\.app: expected the value of a label",
    "nodeSelector: {a: b}": "nodeSelector: there is no such setting; there is .* node_selector",
}


@pytest.mark.parametrize("text", WRONG_SCOPES)
def test_labels_that_make_no_sense_are_refused_with_the_path_to_them(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(ValueError, match=rf"queues\.yaml: {WRONG_SCOPES[text]}"):
        read_for_cluster(tmp_path, text)


def test_a_queue_without_a_cluster_knows_no_node_selector(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="node_selector: there is no such setting; there is age_"):
        read(tmp_path, SCOPE)


def test_up_accepts_and_refuses_what_its_controller_does(tmp_path: Path) -> None:
    """Before anything starts."""
    file = tmp_path / "queues.yaml"
    file.write_text(f"{UNITS}{SCOPE.partition('queues')[0]}")
    check_up(file)
    file.write_text("node_selector: {gpu: true}")
    with pytest.raises(BadParameter, match=r"queues\.yaml: node_selector\.gpu: expected"):
        check_up(file)
