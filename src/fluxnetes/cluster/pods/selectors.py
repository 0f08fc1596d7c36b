"""Selectors on labels: whether they hold, and a canonical form for equal ones.

Kubernetes has two kinds. A *node selector* is a list of terms of which one must hold; a term is a
list of conditions on labels and on the node's name that must all hold. A *label selector*, for
pods, is one list of conditions. The API server validates what users write, so an invalid condition
is hardly ever seen; if it is, it never holds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

import msgspec

from fluxnetes.kube.objects.affinity import LabelSelector, NodeSelector, NodeTerm, Requirement
from fluxnetes.kube.objects.nodes import Node

Requirements = tuple[Requirement, ...]
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")

# --- whether they hold -------------------------------------------------------------------------


def holds(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Whether a condition holds for these labels."""
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compare(requirement, value)
    return False


def all_hold(requirements: Requirements, labels: Mapping[str, str]) -> bool:
    """Whether all conditions hold for these labels."""
    return all(holds(requirement, labels) for requirement in requirements)


def accepts(selector: NodeSelector, node: Node) -> bool:
    """Whether one of the terms holds for a node."""
    return any(_term_holds(term, node) for term in selector.node_selector_terms)


def _term_holds(term: NodeTerm, node: Node) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    if not all_hold(term.match_expressions, node.metadata.labels):
        return False
    return all(_field_holds(each, node) for each in term.match_fields)


def _field_holds(requirement: Requirement, node: Node) -> bool:
    """Kubernetes supports only the name, with exactly one value."""
    if requirement.key != "metadata.name" or len(requirement.values) != 1:
        return False
    if requirement.operator not in ("In", "NotIn"):
        return False
    return (requirement.values[0] == node.metadata.name) == (requirement.operator == "In")


def _compare(requirement: Requirement, value: str | None) -> bool:
    if value is None or len(requirement.values) != 1:
        return False
    there, bound = integer(value), integer(requirement.values[0])
    if there is None or bound is None:
        return False
    return there > bound if requirement.operator == "Gt" else there < bound


def integer(text: str) -> int | None:
    """The number, if it is one of 64 bits."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


# --- canonical form ----------------------------------------------------------------------------


def tidy(selector: NodeSelector) -> NodeSelector:
    """The same, sorted, without duplicates and without empty terms, which never hold."""
    terms = {
        NodeTerm(tidy_requirements(term.match_expressions), tidy_requirements(term.match_fields))
        for term in selector.node_selector_terms
        if term.match_expressions or term.match_fields
    }
    return NodeSelector(tuple(sorted(terms, key=canonical_term)))


def tidy_requirements(requirements: Iterable[Requirement]) -> Requirements:
    """The same, sorted and without duplicates."""
    tidied = {Requirement(r.key, r.operator, tuple(sorted(set(r.values)))) for r in requirements}
    return tuple(sorted(tidied, key=canonical_requirement))


def as_requirements(selector: LabelSelector) -> Requirements:
    """A label selector as conditions, tidied."""
    labels = (Requirement(key, "In", (value,)) for key, value in selector.match_labels.items())
    return tidy_requirements((*labels, *selector.match_expressions))


Canonical = list["str | Canonical"]
"""What names are made from; it must never change for the same selector."""


def canonical_requirement(requirement: Requirement) -> Canonical:
    return [requirement.key, requirement.operator, *requirement.values]


def canonical_term(term: NodeTerm) -> Canonical:
    return [
        [canonical_requirement(each) for each in term.match_expressions],
        [canonical_requirement(each) for each in term.match_fields],
    ]


def canonical_selector(selector: NodeSelector) -> Canonical:
    return [canonical_term(term) for term in selector.node_selector_terms]


def digest(content: Canonical) -> str:
    """Twelve hex digits that stand for the content."""
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:12]


# --- in words ----------------------------------------------------------------------------------


def describe(selector: NodeSelector) -> str:
    """A selector in words, to say why a node does not match it."""
    terms = [
        " and ".join(_words(each) for each in (*term.match_expressions, *term.match_fields))
        for term in selector.node_selector_terms
    ]
    return " or ".join(terms) or "a term without conditions, which holds for no node"


def _words(requirement: Requirement) -> str:
    key, values = requirement.key, ", ".join(requirement.values)
    match requirement.operator:
        case "In" if len(requirement.values) == 1:
            return f"{key}={values}"
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} not in ({values})"
        case "Exists":
            return f"any {key}"
        case "DoesNotExist":
            return f"no {key}"
        case "Gt" | "Lt":
            return f"{key} {'>' if requirement.operator == 'Gt' else '<'} {values}"
    return f"{key} {requirement.operator} ({values})"
