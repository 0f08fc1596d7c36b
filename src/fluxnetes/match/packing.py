"""Packing vertices into shares.

A share of a slot needs a number of units of one type. Vertices are never split: a share takes
whole vertices, in order, until it has enough, and what its last vertex has too much is lost.
Only a *pool* can be split: it serves as many shares as its amount holds, each exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fluxnetes.match.evaluate import Entries

Ints = NDArray[np.int64]


def pack(entries: Entries, share: Ints) -> tuple[Ints, Ints, Ints]:
    """Pack each parent's entries into shares of `share[parent]` units.

    Returns, for every vertex used, the row in `entries`, the number of the share it goes to, and
    the units taken from it. Incomplete shares are left out.
    """
    per_row = share[entries.parent]
    if entries.divisible.any():
        return _pack_pools(entries, per_row)
    number = _whole_shares(entries, share)
    rows = np.flatnonzero(number >= 0)
    return rows, number[rows], entries.amount[rows]


def count_shares(entries: Entries, share: Ints, parents: int) -> Ints:
    """How many shares of `share[parent]` units each parent's entries make."""
    rows, number, _ = pack(entries, share)
    made = np.zeros(parents, np.int64)
    np.maximum.at(made, entries.parent[rows], number + 1)
    return made


def _pack_pools(entries: Entries, per_row: Ints) -> tuple[Ints, Ints, Ints]:
    serves = entries.amount // np.maximum(per_row, 1)
    rows = np.repeat(np.arange(len(entries)), serves)
    parent = entries.parent[rows]
    number = np.arange(len(rows)) - np.searchsorted(parent, parent)
    return rows, number, per_row[rows]


def _whole_shares(entries: Entries, share: Ints) -> Ints:
    """The share that each vertex goes to, -1 for those left over.

    Works on all parents at once, one vertex of each at a time; equal sizes need no walk.
    """
    amount, parent = entries.amount, entries.parent
    if not len(entries):
        return np.empty(0, np.int64)
    ordinal = entries.ordinal()
    per_row = share[parent]
    if (amount == amount[0]).all():
        each = -(-per_row // max(int(amount[0]), 1))
        number = ordinal // np.maximum(each, 1)
        total = np.bincount(parent, minlength=len(share)) // np.maximum(
            -(-share // max(int(amount[0]), 1)), 1
        )
        return np.where(number < total[parent], number, -1)
    number = np.full(len(entries), -1, np.int64)
    got = np.zeros(len(share), np.int64)
    filled = np.zeros(len(share), np.int64)
    for step in range(int(ordinal.max()) + 1):
        rows = np.flatnonzero(ordinal == step)
        who = parent[rows]
        number[rows] = filled[who]
        got[who] += amount[rows]
        full = got[who] >= share[who]
        filled[who[full]] += 1
        got[who[full]] = 0
    return np.where(number < filled[parent], number, -1)
