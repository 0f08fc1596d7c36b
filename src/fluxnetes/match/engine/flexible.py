"""The flexible traverser: selects among slots that are alternatives to each other.

Sibling slots are alternatives. Below each vertex the mixture of alternatives is chosen that makes
the most slots out of the available units; among mixtures that make as many, the one that begins
with the alternative listed first. Siblings of type `xor_slot` exclude each other: the request is
split into one request for each, tried in the order in which they are listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod

from fluxnetes.jobspec.model import SLOT, XOR_SLOT, Resource

MAX_VARIANTS = 1000
"""Maximum number of variants of one request: xor slots at several levels multiply, and each variant
is compiled and tried."""


MAX_MIXTURES = 100_000
"""Maximum mixtures of alternatives that are compared for one vertex, and slots below one vertex."""


class TooManyVariants(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A request for alternatives can be met in more ways than are tried."""


@dataclass(frozen=True, slots=True)
class TypeStock:
    """The units of one type below a vertex: of each granule in the order of use, or each pool."""

    type: str
    granules: tuple[int, ...]
    divisible: bool

    @property
    def units(self) -> int:
        return sum(self.granules)


Mixture = tuple[int, ...]
"""The alternatives that the slots of one vertex are made of, by index."""


def best_mixture(slots: tuple[Resource, ...], stocks: tuple[TypeStock, ...]) -> Mixture:
    """The alternatives to fill, in order; none if whole granules do not suffice for them."""
    units = {stock.type: stock.units for stock in stocks}
    mixture = _one_way(slots[0], units) if len(slots) == 1 else _many_ways(slots, units)
    return mixture if _granules_suffice(slots, stocks, mixture) else ()


def _one_way(slot: Resource, units: dict[str, int]) -> Mixture:
    made = slot.count.largest
    for part in slot.children:
        share = part.count.fit(units.get(part.type, 0))
        made = min(made, units.get(part.type, 0) // share if share else 0)
    if made > MAX_MIXTURES:
        raise TooManyVariants(f"{made} slots fit on one vertex; at most {MAX_MIXTURES} are filled")
    return (0,) * made


def _many_ways(slots: tuple[Resource, ...], units: dict[str, int]) -> Mixture:
    """Try every order of alternatives, each set of leftovers once."""
    types = sorted(units)
    known: dict[tuple[int, ...], tuple[int, int, tuple[int, ...]]] = {}
    start = tuple(units[t] for t in types)
    pending = [start]
    while pending:
        left = pending[-1]
        if left in known:
            pending.pop()
            continue
        if len(known) + len(pending) > MAX_MIXTURES:
            raise TooManyVariants(
                f"the request's alternatives can be mixed in more than {MAX_MIXTURES} ways on one "
                f"vertex"
            )
        ways = [(i, rest) for i, slot in enumerate(slots) if (rest := _without(slot, types, left))]
        unknown = [rest for _, rest in ways if rest not in known]
        if unknown:
            pending.extend(unknown)
            continue
        best, way = 0, -1
        then: tuple[int, ...] = ()
        for i, rest in ways:
            if known[rest][0] + 1 > best:
                best, way, then = known[rest][0] + 1, i, rest
        known[left] = (best, way, then)
        pending.pop()
    mixture = []
    left = start
    while known[left][0]:
        mixture.append(known[left][1])
        left = known[left][2]
    return tuple(mixture)


def _without(slot: Resource, types: list[str], left: tuple[int, ...]) -> tuple[int, ...]:
    """The units left after one slot is filled; empty if it cannot be."""
    if not slot.children:
        return ()
    rest = list(left)
    for part in slot.children:
        at = types.index(part.type) if part.type in types else -1
        share = part.count.fit(left[at]) if at >= 0 else 0
        if share == 0:
            return ()
        rest[at] -= share
    return tuple(rest)


def _granules_suffice(
    slots: tuple[Resource, ...], stocks: tuple[TypeStock, ...], mixture: Mixture
) -> bool:
    """Whether whole granules, taken in order, are enough for a mixture."""
    left = {s.type: list(s.granules) for s in stocks}
    by_type = {s.type: s for s in stocks}
    for index in mixture:
        for part in slots[index].children:
            stock, granules = by_type[part.type], left[part.type]
            taken = take(granules, part.count.fit(stock.units), stock.divisible)
            if not taken:
                return False
            for number, units in taken:
                granules[number] -= units
    return True


def take(granules: list[int], share: int, divisible: bool) -> list[tuple[int, int]]:
    """The granules that a share takes, in order, with the units of each; none: not enough.

    Whole granules until there is enough, or exactly the share from the first pool that has it.
    """
    if divisible:
        return next(([(i, share)] for i, units in enumerate(granules) if units >= share), [])
    taken, missing = [], share
    for number, units in enumerate(granules):
        if missing > 0 and units > 0:
            taken.append((number, units))
            missing -= units
    return taken if missing <= 0 else []


def split_xor_slots(resources: tuple[Resource, ...]) -> list[tuple[Resource, ...]]:
    """One request for each way to choose among xor slots; the request itself if it has none."""
    count = _count_variants(resources)
    if count > MAX_VARIANTS:
        raise TooManyVariants(
            f"the request's xor slots make {count} variants; at most {MAX_VARIANTS} are tried"
        )
    rest = [_choices(r) for r in resources if r.type != XOR_SLOT]
    either = [c for r in resources if r.type == XOR_SLOT for c in _choices(replace(r, type=SLOT))]
    together = list(product(*rest))
    if not either:
        return together
    return [(*others, slot) for slot in either for others in together]


def _choices(resource: Resource) -> list[Resource]:
    return [replace(resource, children=way) for way in split_xor_slots(resource.children)]


def _count_variants(resources: tuple[Resource, ...]) -> int:
    counts = [(r.type == XOR_SLOT, _count_variants(r.children)) for r in resources]
    either = sum(count for is_xor, count in counts if is_xor)
    return prod(count for is_xor, count in counts if not is_xor) * (either or 1)
