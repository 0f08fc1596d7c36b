"""Places a gang on nodes that the caller names, pod by pod, whatever is free there.

For pods that run already: their usage is a fact, which the matcher records instead of deciding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fluxnetes.common.reasons import Message, Reason
from fluxnetes.match.candidate import Candidate
from fluxnetes.match.engine.engine import MatchEngine
from fluxnetes.match.gang.model import Gang, Seats
from fluxnetes.match.nodes import NodeIndex


def gang_at(
    engine: MatchEngine, nodes: NodeIndex, gang: Gang, names: Sequence[str]
) -> Candidate | Reason:
    """What a gang holds whose pods are on these nodes; or the reason why that is impossible."""
    if gang.shared:
        return Reason.of(Message.UNKNOWN_SHARED_POOL)
    count = sum(shape.count for shape in gang.shapes)
    if len(names) != count:
        return Reason.of(Message.PODS_AND_NODES, pods=count, nodes=len(names))
    at = nodes.at(names)
    missing = [name for name, position in zip(names, at, strict=True) if position is None]
    if missing:
        return Reason.of(Message.NO_SUCH_NODE, node=missing[0])
    table = engine.gangs.table()
    row_of = {position: row for row, position in enumerate(table.nodes.tolist())}
    held: dict[int, int] = {}
    seats: list[Seats] = []
    first = 0
    for shape in gang.shapes:
        mine = [position for position in at[first : first + shape.count] if position is not None]
        first += shape.count
        seats.append(Seats(engine.tree.vertex[np.array(mine, np.int64)], np.ones(len(mine), int)))
        for position in mine:
            for type, amount in shape.amounts:
                column = table.pools.get(type)
                pool = -1 if column is None or position not in row_of else column[row_of[position]]
                if pool < 0:
                    continue  # The pod runs there anyway, and holds what the node has.
                held[int(pool)] = held.get(int(pool), 0) + amount
    positions = np.array(sorted(held), np.int64)
    needs = np.array([held[position] for position in positions.tolist()], np.int64)
    return Candidate(
        engine.hold(engine.tree.vertex[positions], needs), tuple(seats), engine.version
    )
