"""Match policies: the order in which equal candidates are preferred.

Every candidate vertex gets a score; a policy defines how scores are computed and whether low or
high ones win. `high` and `low` score by the vertex's id; a *node centric* policy adds a large
number made of the id of the node above, so that all of one node is preferred to any of the next. A
*node exclusive* policy allocates whole nodes whatever was requested. A policy that *stops at the
first* match walks the graph in the order of its own edge weights and uses what it visits first.
"""

from __future__ import annotations

from dataclasses import dataclass

NAMED = {
    "first": "policy=high node_centric=true stop_on_1_matches=true",
    "firstnodex": "policy=high node_centric=true node_exclusive=true stop_on_1_matches=true",
    "high": "policy=high",
    "low": "policy=low",
    "hinode": "policy=high node_centric=true",
    "lonode": "policy=low node_centric=true",
    "hinodex": "policy=high node_centric=true node_exclusive=true",
    "lonodex": "policy=low node_centric=true node_exclusive=true",
}
_SWITCHES = ("node_centric", "node_exclusive", "stop_on_1_matches")


class PolicyError(ValueError):
    """A match policy is unknown or invalid."""


@dataclass(frozen=True, slots=True)
class MatchPolicy:
    """How candidates are scored and which scores win."""

    name: str
    scoring: str = "id"
    """`id` (high, low and the node policies), `interval` (locality) or `property` (variation)."""
    low: bool = False
    """The lowest score wins, not the highest."""
    node_centric: bool = False
    node_exclusive: bool = False
    first: bool = False

    @property
    def slots_low(self) -> bool:
        """Whether a slot is filled from the lowest score up (variation fills from the worst)."""
        return self.low and self.scoring == "id"


def parse_policy(text: str) -> MatchPolicy:
    """A policy from its name, or from options such as `policy=low node_centric=true`.

    >>> parse_policy("lonode") == parse_policy("policy=low node_centric=true")
    False
    >>> parse_policy("lonode").low, parse_policy("policy=low node_centric=true").low
    (True, True)
    """
    if text == "locality":
        return MatchPolicy(text, scoring="interval")
    if text == "variation":
        return MatchPolicy(text, scoring="property", low=True)
    options = _options(NAMED.get(text, text))
    order = options.pop("policy", None)
    if order is None:
        raise PolicyError(f"policy {text!r} names neither policy=high nor policy=low")
    return MatchPolicy(
        text,
        low=order == "low",
        node_centric=options.get("node_centric") == "true",
        node_exclusive=options.get("node_exclusive") == "true",
        first=options.get("stop_on_1_matches") == "true",
    )


def _options(text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in text.split(" "):
        key, _, value = word.partition("=")
        allowed = ("high", "low") if key == "policy" else ("true", "false")
        if key != "policy" and key not in _SWITCHES:
            known = ", ".join([*NAMED, "locality", "variation"])
            raise PolicyError(
                f"unknown match policy or option {word!r}; policies are {known}, "
                f"options are policy=high|low and {', '.join(_SWITCHES)} (=true|false)"
            )
        if value not in allowed:
            raise PolicyError(f"option {key!r} takes {' or '.join(allowed)}, not {value!r}")
        if key == "policy" and options.get(key) == "high":
            continue  # `high` wins where both were given, as in the reference
        options.setdefault(key, value) if key != "policy" else options.update({key: value})
    return options
