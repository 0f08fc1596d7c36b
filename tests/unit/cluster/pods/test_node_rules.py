"""A rule accepts the nodes that Kubernetes would, and its name depends on what it means alone."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cluster.pods.node_rules import ANYWHERE, NodeRule, read_rule
from fluxnetes.kube.objects.affinity import NodeSelector, NodeTerm, Requirement
from tests.unit.cluster.objects import Content, a_node, a_spec

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
DEFAULTS = [
    {
        "key": f"node.kubernetes.io/{what}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for what in ("not-ready", "unreachable")
]


def expression(key: str, operator: str, *values: str) -> Content:
    return {"key": key, "operator": operator, "values": values}


def term(*expressions: Content, fields: tuple[Content, ...] = ()) -> Content:
    return {"matchExpressions": expressions, "matchFields": fields}


def affine(*terms: Content, **more: Any) -> NodeRule:
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    return read_rule(a_spec(affinity=affinity, **more))


def tolerant(*tolerations: Content) -> NodeRule:
    return read_rule(a_spec(tolerations=tolerations))


# -- labels and affinity ---------------------------------------------------------------------------


def test_a_plain_pod_goes_anywhere_whatever_the_server_adds_to_it() -> None:
    assert read_rule(a_spec()) is ANYWHERE
    assert read_rule(a_spec(tolerations=DEFAULTS)) is ANYWHERE
    assert ANYWHERE.accepts(a_node())
    assert ANYWHERE.why_not(a_node()) == ""


def test_every_label_of_the_node_selector_must_be_there() -> None:
    rule = read_rule(a_spec(nodeSelector={"disk": "ssd", "empty": ""}))
    assert rule.accepts(a_node(disk="ssd", empty=""))
    assert not rule.accepts(a_node(disk="ssd"))
    assert not rule.accepts(a_node(disk="hdd", empty=""))


@pytest.mark.parametrize(
    ("operator", "values", "held_by"),
    [
        ("In", ("a", "b"), {"a"}),
        ("NotIn", ("a", "b"), {"", "7", "-7", None}),
        ("Exists", (), {"a", "", "7", "-7"}),
        ("DoesNotExist", (), {None}),
        ("Gt", ("3",), {"7"}),
        ("Gt", ("7",), set()),
        ("Gt", ("-8",), {"7", "-7"}),
        ("Lt", ("3",), {"-7"}),
        ("Gt", ("1", "2"), set()),
        ("Gt", ("x",), set()),
        ("Gt", ("99999999999999999999",), set()),
        ("Near", ("a",), set()),
    ],
)
def test_conditions_hold_for_the_values_that_they_mean(
    operator: str, values: tuple[str, ...], held_by: set[str | None]
) -> None:
    rule = affine(term(expression("key", operator, *values)))
    nodes = {value: a_node(key=value) for value in ("a", "", "7", "-7")} | {None: a_node()}
    assert {value for value, node in nodes.items() if rule.accepts(node)} == held_by


def test_one_term_suffices_and_all_of_its_conditions_must_hold() -> None:
    big_ssd = term(expression("disk", "In", "ssd"), expression("cores", "Gt", "8"))
    rule = affine(big_ssd, term(expression("zone", "In", "west")))
    assert rule.accepts(a_node(disk="ssd", cores="16"))
    assert rule.accepts(a_node(zone="west"))
    assert not rule.accepts(a_node(disk="ssd", cores="8"))


def test_an_empty_term_holds_for_no_node() -> None:
    for terms in ([], [term()]):
        rule = affine(*terms)
        assert rule != ANYWHERE
        assert not rule.accepts(a_node())
    assert affine(term(), term(expression("a", "Exists"))).accepts(a_node(a="1"))


def test_a_node_can_be_named_and_excluded() -> None:
    this = affine(term(fields=(expression("metadata.name", "In", "n1"),)))
    foreign = affine(term(fields=(expression("metadata.name", "NotIn", "n1"),)))
    assert [this.accepts(a_node(name)) for name in ("n1", "n2")] == [True, False]
    assert [foreign.accepts(a_node(name)) for name in ("n1", "n2")] == [False, True]


@pytest.mark.parametrize(
    "field",
    [
        expression("metadata.name", "In", "n1", "n2"),
        expression("metadata.name", "Exists"),
        expression("metadata.uid", "NotIn", "n1"),
    ],
)
def test_a_condition_on_fields_that_makes_no_sense_holds_for_no_node(field: Content) -> None:
    assert not affine(term(fields=(field,))).accepts(a_node("n1"))


def test_selector_affinity_and_volumes_must_all_accept() -> None:
    near = NodeSelector((NodeTerm((Requirement("zone", "In", ("west",)),)),))
    affinity = {
        "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term(expression("a", "Exists"))]}}
    }
    rule = read_rule(a_spec(nodeSelector={"disk": "ssd"}, affinity=affinity), (near,))
    assert rule.accepts(a_node(disk="ssd", a="1", zone="west"))
    for missing in ("disk", "a", "zone"):
        labels = {"disk": "ssd", "a": "1", "zone": "west"}
        del labels[missing]
        assert not rule.accepts(a_node(**labels))
        assert missing in rule.why_not(a_node(**labels))


# -- taints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "team", "operator": "Exists"}, "NoSchedule NoExecute"),
        ({"key": "team", "value": "blue"}, "NoSchedule NoExecute"),
        ({"key": "team", "operator": "", "value": "blue"}, "NoSchedule NoExecute"),
        ({"key": "team", "value": "red"}, ""),
        ({"key": "team"}, ""),
        ({"key": "other", "operator": "Exists"}, ""),
        ({"operator": "Exists"}, "NoSchedule NoExecute"),
        ({"operator": "Exists", "effect": "NoExecute"}, "NoExecute"),
        ({"key": "team", "value": "blue", "effect": "NoSchedule"}, "NoSchedule"),
        ({"key": "team", "operator": "Exists", "effect": "PreferNoSchedule"}, ""),
        ({"key": "team", "operator": "Near", "value": "blue"}, ""),
    ],
)
def test_a_taint_refuses_a_pod_that_does_not_tolerate_it(
    toleration: Content, tolerated: str
) -> None:
    for effect in ("NoSchedule", "NoExecute"):
        node = a_node("n1", f"team=blue:{effect}")
        assert not ANYWHERE.accepts(node)
        assert tolerant(toleration).accepts(node) == (effect in tolerated.split())


def test_every_taint_must_be_tolerated() -> None:
    node = a_node("n1", "a=1:NoSchedule", "b:NoExecute")
    one, other = {"key": "a", "value": "1"}, {"key": "b", "operator": "Exists"}
    assert tolerant(one, other).accepts(node)
    assert not tolerant(one).accepts(node)
    assert not tolerant(other).accepts(node)


def test_taints_can_be_compared_by_number() -> None:
    node = a_node("n1", "level=5:NoSchedule")
    for operator, value, expected in [("Gt", "4", True), ("Lt", "5", False), ("Gt", "x", False)]:
        rule = tolerant({"key": "level", "operator": operator, "value": value})
        assert rule.accepts(node) == expected


def test_soft_taints_and_those_of_availability_are_no_matter_of_rules() -> None:
    taints = ("a:PreferNoSchedule", "node.kubernetes.io/unschedulable:NoSchedule")
    assert ANYWHERE.accepts(a_node("n1", *taints))
    tolerations = [
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
        {"key": "a", "operator": "Exists", "effect": "PreferNoSchedule"},
    ]
    assert tolerant(*tolerations) is ANYWHERE


# -- reasons ---------------------------------------------------------------------------------------


def test_a_refusal_is_stated_in_words() -> None:
    selected = read_rule(a_spec(nodeSelector={"disk": "ssd"}))
    assert selected.why_not(a_node()) == ("asks for the label disk=ssd; the node has no such label")
    assert selected.why_not(a_node(disk="hdd")).endswith("the node has disk=hdd")
    tainted = a_node("n1", "team=blue:NoSchedule")
    assert ANYWHERE.why_not(tainted) == "does not tolerate the node's taint team=blue:NoSchedule"
    either = affine(
        term(expression("a", "In", "1"), expression("b", "Gt", "2")),
        term(expression("c", "NotIn", "3", "4"), expression("d", "DoesNotExist")),
    )
    assert either.why_not(a_node(c="3")) == (
        "asks for a=1 and b > 2 or c not in (3, 4) and no d; the node is none of these"
    )
    assert "holds for no node" in affine(term()).why_not(a_node())


# -- names -----------------------------------------------------------------------------------------


def test_names_stay_what_they_are() -> None:
    """Jobs in the store ask for rules by name: another name for the same rule would strand them."""
    assert ANYWHERE.name == "rule-210e130878aa"
    rule = affine(
        term(expression("a", "In", "1", "2"), fields=(expression("metadata.name", "In", "n"),)),
        nodeSelector={"disk": "ssd"},
        tolerations=[{"key": "team", "value": "blue", "effect": "NoSchedule"}],
    )
    assert rule.name == "rule-a880fbfe5c9f"


def test_rules_that_mean_different_things_have_different_names() -> None:
    volume = NodeSelector((NodeTerm((Requirement("a", "In", ("1",)),)),))
    rules = [
        ANYWHERE,
        read_rule(a_spec(nodeSelector={"a": "1"})),
        affine(term(expression("a", "In", "1"))),
        read_rule(a_spec(), (volume,)),
        affine(),
        tolerant({"key": "a", "value": "1"}),
        tolerant({"key": "a", "value": "1", "effect": "NoSchedule"}),
        tolerant({"operator": "Exists"}),
    ]
    assert len({rule.name for rule in rules}) == len(set(rules)) == len(rules)


def test_tolerating_everything_leaves_nothing_else_to_say() -> None:
    everything = {"operator": "Exists"}
    assert tolerant(everything, {"key": "a", "value": "1"}) == tolerant(everything)


def test_how_long_a_taint_is_tolerated_does_not_matter() -> None:
    toleration = {"key": "a", "operator": "Exists", "effect": "NoExecute"}
    assert tolerant({**toleration, "tolerationSeconds": 7}) == tolerant(toleration)


WORDS = st.sampled_from(["a", "b", "c"])
EXPRESSIONS = st.builds(
    expression, WORDS, st.sampled_from(["In", "NotIn"]), WORDS, WORDS
) | st.builds(expression, WORDS, st.just("Exists"))
TERMS = st.builds(lambda es: term(*es), st.lists(EXPRESSIONS, max_size=3))
TOLERATIONS = st.builds(
    lambda k, o, v, e: {"key": k, "operator": o, "value": "" if o == "Exists" else v, "effect": e},
    WORDS,
    st.sampled_from(["Equal", "Exists"]),
    WORDS,
    st.sampled_from(["", "NoSchedule", "NoExecute", "PreferNoSchedule"]),
)
LABELS = st.dictionaries(WORDS, WORDS)


def shuffled(items: list[Any], rng: random.Random) -> list[Any]:
    """In another order, and some twice."""
    again = items + rng.sample(items, rng.randint(0, len(items)))
    return rng.sample(again, len(again))


@given(
    LABELS,
    st.lists(TERMS, max_size=3),
    st.lists(TOLERATIONS, max_size=3),
    LABELS,
    st.randoms(use_true_random=False),
)
def test_order_and_repetition_change_neither_name_nor_meaning(
    selector: dict[str, str],
    terms: list[Content],
    tolerations: list[Content],
    labels: dict[str, str],
    rng: random.Random,
) -> None:
    one = affine(*terms, nodeSelector=selector, tolerations=tolerations)
    mixed = [
        term(*(e | {"values": shuffled([*e["values"]], rng)} for e in shuffled(es, rng)))
        for es in ([*each["matchExpressions"]] for each in shuffled(terms, rng))
    ]
    other = affine(
        *mixed,
        nodeSelector=dict(shuffled(sorted(selector.items()), rng)),
        tolerations=shuffled(tolerations, rng),
    )
    assert (one, one.name, hash(one)) == (other, other.name, hash(other))
    node = a_node("n1", "a=b:NoSchedule", **labels)
    assert one.accepts(node) == (one.why_not(node) == "")
