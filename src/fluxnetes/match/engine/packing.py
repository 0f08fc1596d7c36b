"""Packs vertices into the shares of slots.

A share of a slot needs a number of units of one type. Vertices are never split: a share takes
whole vertices, in order, until it has enough, and the excess of its last vertex is lost. Only a
*pool* can be split: it serves as many shares as fit in its amount, each exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fluxnetes.common.arrays import Ints

if TYPE_CHECKING:
    from fluxnetes.match.engine.states import QualifiedEntries

Packed = tuple[Ints, Ints, Ints]
"""For every vertex used: its row, the number of the share it goes to, the units taken from it."""


def pack(entries: QualifiedEntries, share: Ints, most: Ints) -> Packed:
    """Pack each parent's entries into shares of `share[parent]` units, `most[parent]` at most.

    The caller ensures that there are enough for that many.
    """
    if entries.divisible:
        return _pack_pools(entries, share, most)
    number = _whole_shares(entries, share)
    rows = (number < most[entries.parent]).nonzero()[0]
    return rows, number[rows], entries.amount[rows]


def count_shares(entries: QualifiedEntries, share: Ints, parents: int) -> Ints:
    """How many shares of `share[parent]` units each parent's entries make."""
    if entries.divisible:
        serves = entries.amount // share[entries.parent]
        sums = np.bincount(entries.parent, weights=serves, minlength=parents)
        return sums.astype(np.int64)
    made = np.zeros(parents, np.int64)
    number = _whole_shares(entries, share)
    np.maximum.at(made, entries.parent, number)
    # The last share of a parent counts only if its units complete it.
    last = number == made[entries.parent]
    units = np.bincount(
        entries.parent[last], weights=entries.amount[last], minlength=parents
    ).astype(np.int64)
    return np.where(units >= share, made + 1, made)


def _pack_pools(entries: QualifiedEntries, share: Ints, most: Ints) -> Packed:
    per_row = share[entries.parent]
    serves = np.minimum(entries.amount // per_row, most[entries.parent])
    rows = np.repeat(np.arange(len(entries)), serves)
    parent = entries.parent[rows]
    number = np.arange(len(rows)) - parent.searchsorted(parent)
    used = (number < most[parent]).nonzero()[0]
    return rows[used], number[used], per_row[rows[used]]


def _whole_shares(entries: QualifiedEntries, share: Ints) -> Ints:
    """The share that each vertex goes to; the last of each parent may be incomplete."""
    ordinal = entries.ordinal()
    if entries.size > 0:
        each: Ints = -(-share // entries.size)
        number: Ints = ordinal // each[entries.parent]
        return number
    return _mixed_shares(entries, share, ordinal)


def _mixed_shares(entries: QualifiedEntries, share: Ints, ordinal: Ints) -> Ints:
    """The same for vertices of different sizes: one vertex of every parent at a time."""
    number = np.zeros(len(entries), np.int64)
    got = np.zeros(len(share), np.int64)
    filled = np.zeros(len(share), np.int64)
    for step in range(int(ordinal.max(initial=-1)) + 1):
        rows = (ordinal == step).nonzero()[0]
        who = entries.parent[rows]
        number[rows] = filled[who]
        got[who] += entries.amount[rows]
        full = who[got[who] >= share[who]]
        filled[full] += 1
        got[full] = 0
    return number
