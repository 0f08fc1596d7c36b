"""The configuration of queues survives being written down."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from fluxnetes.jobspec.constraint import Properties
from fluxnetes.queue.config import (
    BackfillPolicy,
    BudgetConfig,
    FairShare,
    LimitConfig,
    PriorityWeights,
    QueueConfig,
    SchedulerConfig,
)
from fluxnetes.store.codec.config import decode_config, encode_config
from fluxnetes.store.errors import UnreadableStore
from tests.property.profile import examples
from tests.unit.store.drawn import CONFIG
from tests.unit.store.plain import plain

EVERYTHING = SchedulerConfig(
    queues=(
        QueueConfig(
            "batch",
            BackfillPolicy.HYBRID,
            reservations=16,
            constraint=Properties(("ssd",), ()),
            cap=LimitConfig(running=8, resources={"core": 64}),
        ),
        QueueConfig("idle", per_user=LimitConfig(pending=3)),
    ),
    weights=PriorityWeights(fair_share=10),
    fair_share=FairShare(users={("lab", "ada"): 2.0}, namespaces={"lab": float("inf")}),
    charge={"core": 1.0},
    budgets=(BudgetConfig("b", 100.0, namespace="lab"),),
)


@examples(200)
@given(CONFIG)
def test_a_configuration_comes_back_as_it_was(config: SchedulerConfig) -> None:
    assert plain(decode_config(encode_config(config))) == plain(config)


def test_what_has_its_default_is_not_written() -> None:
    assert encode_config(SchedulerConfig()) == "{}"
    assert json.loads(encode_config(EVERYTHING)) == {
        "queues": [
            {
                "name": "batch",
                "policy": "hybrid",
                "reservations": 16,
                "constraint": {"properties": [["ssd"], []]},
                "cap": {"running": 8, "resources": {"core": 64}},
            },
            {"name": "idle", "per_user": {"pending": 3}},
        ],
        "weights": {"fair_share": 10},
        "fair_share": {"namespaces": {"lab": "inf"}, "users": [["lab", "ada", 2.0]]},
        "charge": {"core": 1.0},
        "budgets": [{"name": "b", "amount": 100.0, "namespace": "lab"}],
    }
    assert decode_config(encode_config(EVERYTHING)) == EVERYTHING


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"colour": 1}', r"config\.colour: this version .* has no such setting; .* budgets"),
        ('{"queues": [{}, {"polcy": "easy"}]}', r"config\.queues\[1\]\.polcy: "),
        ('{"queues": [{"per_user": {"walking": 1}}]}', r"config\.queues\[0\]\.per_user\.walking: "),
        ('{"weights": {"luck": 1}}', r"config\.weights\.luck: "),
        ('{"fair_share": {"quarter_life": 1}}', r"config\.fair_share\.quarter_life: "),
        ('{"budgets": [{"name": "b", "amount": 1, "x": 1}]}', r"config\.budgets\[0\]\.x: "),
        ('{"budgets": [{"name": "b"}]}', r"config\.budgets\[0\]\.amount: expected a value"),
        ('{"queues": [{"policy": "lucky"}]}', r"queues\[0\]\.policy: found 'lucky', .* fcfs, easy"),
    ],
)
def test_what_this_version_does_not_know_is_refused_with_its_path(
    text: str, complaint: str
) -> None:
    with pytest.raises(UnreadableStore, match=complaint):
        decode_config(text)
