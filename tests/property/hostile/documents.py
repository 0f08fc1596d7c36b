"""Strategies for documents with extreme numbers, deep chains and many repetitions."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from fluxnetes.graph.limits import MAX_DEPTH

EXTREMES = (2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 10**30, 10**300)
rarely = st.sampled_from([False] * 30 + [True])


def mostly(
    usual: st.SearchStrategy[Any], extreme: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    """Values of which most are valid, so that what follows the first check is reached, too."""
    return rarely.flatmap(lambda is_extreme: extreme if is_extreme else usual)


sizes = mostly(
    st.integers(0, 8) | st.sampled_from([2**31 - 1, 2**49, 2**50]), st.sampled_from(EXTREMES)
)
numbers = st.sampled_from([0, 1, -1, *EXTREMES, *(-number for number in EXTREMES)])
depths = mostly(
    st.sampled_from([1, 2, 3, 4, MAX_DEPTH]), st.sampled_from([MAX_DEPTH + 1, MAX_DEPTH + 2, 2000])
)
types = st.sampled_from(["node", "core", "memory"])


@st.composite
def jgf(draw: st.DrawFn) -> str:
    """A chain of vertices, with some beside it and some edges across."""
    length = draw(depths)
    nodes = [
        _jgf_node(draw, number, f"/v{number}" if number == 0 else f"/v0/v{number}")
        for number in range(length)
    ]
    edges = [(number, number + 1) for number in range(length - 1)]
    for _ in range(draw(st.integers(0, 4))):
        number = len(nodes)
        nodes.append(_jgf_node(draw, number, f"/v0/v{number}"))
        edges.append((draw(st.integers(0, number - 1)), number))
    for _ in range(draw(st.integers(0, 2))):
        edges.append((draw(st.integers(0, len(nodes) - 1)), draw(st.integers(0, len(nodes) - 1))))
    graph = {
        "nodes": nodes,
        "edges": [{"source": str(source), "target": str(target)} for source, target in edges],
    }
    return json.dumps({"graph": graph, "writer": nested(draw) if draw(rarely) else None})


def _jgf_node(draw: st.DrawFn, number: int, path: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "type": "cluster" if number == 0 else draw(types),
        "basename": "v",
        "id": number,
        "uniq_id": number,
        "paths": {"containment": path},
    }
    if number < 8:
        metadata["size"] = draw(sizes)
        metadata["divisible"] = draw(st.booleans())
        if draw(rarely):
            metadata[draw(st.sampled_from(["id", "rank", "uniq_id"]))] = draw(numbers)
    return {"id": str(number), "metadata": metadata}


def nested(draw: st.DrawFn) -> Any:
    value: Any = 1
    for _ in range(draw(st.sampled_from([3, 300]))):
        value = [value]
    return value


@st.composite
def grug(draw: st.DrawFn) -> str:
    """A recipe that is a chain of kinds, with a few edges across."""
    length = draw(depths)
    kinds = [f"<node id='k{k}'>{_grug_data(draw, k)}</node>" for k in range(length)]
    pairs = [(k, k + 1) for k in range(length - 1)]
    for _ in range(draw(st.integers(0, 2))):
        pairs.append((draw(st.integers(0, length - 1)), draw(st.integers(0, length - 1))))
    edges = [
        f"<edge source='k{source}' target='k{target}'>{_grug_edge(draw, target)}</edge>"
        for source, target in pairs
    ]
    names = (
        "root",
        "type",
        "size",
        "multi_scale",
        "gen_method",
        "id_scope",
        "id_start",
        "id_stride",
    )
    keys = "".join(f"<key id='{name}' attr.name='{name}'/>" for name in names)
    return f"<graphml>{keys}<graph>{''.join(kinds + edges)}</graph></graphml>"


def _grug_data(draw: st.DrawFn, kind: int) -> str:
    given = {"type": "cluster" if kind == 0 else draw(types), "root": int(kind == 0)}
    if kind < 8:
        given["size"] = draw(sizes)
    return _data(given)


def _grug_edge(draw: st.DrawFn, target: int) -> str:
    if target >= 8:
        return ""
    methods = st.sampled_from(["MULTIPLY"] * 8 + ["ASSOCIATE_IN", "ASSOCIATE_BY_PATH_IN"])
    given: dict[str, object] = {
        "gen_method": draw(methods),
        "multi_scale": draw(st.integers(0, 3)),
    }
    if draw(rarely):
        scale = st.sampled_from(["multi_scale", "id_scope", "id_start", "id_stride"])
        given[draw(scale)] = draw(numbers)
    return _data(given)


def _data(given: dict[str, Any]) -> str:
    return "".join(f"<data key='{name}'>{value}</data>" for name, value in given.items())


_ids = mostly(st.integers(0, 5), st.sampled_from([2**16, 2**24, 2**24 + 1, *EXTREMES]))
idsets = st.lists(
    st.tuples(_ids, _ids).map(lambda pair: f"{min(pair)}-{max(pair)}"), min_size=1, max_size=2
).map(",".join)


@st.composite
def rv1(draw: st.DrawFn) -> str:
    blocks = [
        {"rank": draw(idsets), "children": {draw(types): draw(idsets)}}
        for _ in range(draw(st.integers(1, 2)))
    ]
    hosts = mostly(
        st.sampled_from(["node[0-9]", "n"]),
        st.sampled_from(["a[0-99]b[0-99999]", "x[0-4194303]", "n" + "9" * 30]),
    )
    execution: dict[str, Any] = {
        "R_lite": blocks,
        "nodelist": [f"h[0-{draw(sizes) % 100}]", *draw(st.lists(hosts, max_size=2))],
        "properties": {"p": draw(idsets)},
    }
    document: dict[str, Any] = {"version": 1, "execution": execution}
    if draw(rarely):
        document["more"] = nested(draw)
    return json.dumps(document)


@st.composite
def hwloc(draw: st.DrawFn) -> str:
    """A machine with nested objects and a few devices of extreme sizes."""
    kinds = st.sampled_from(["Package", "Group", "NUMANode", "Core", "L2Cache", "Bridge"])
    length = draw(depths)
    opened = []
    for _ in range(length):
        size = draw(numbers) if draw(rarely) else 1024
        opened.append(f"<object type='{draw(kinds)}' cache_size='{size}'>")
    device = (
        f"<object type='OSDev' osdev_type='0' name='sda'>"
        f"<info name='Size' value='{draw(mostly(st.just(10**9), numbers))}'/></object>"
        f"<object type='OSDev' osdev_type='5' name='cuda{draw(sizes)}'/>"
    )
    inside = "".join(opened) + device + "</object>" * length
    return (
        f"<topology><object type='Machine'><info name='HostName' value='n{draw(sizes)}'/>"
        f"{inside}</object></topology>"
    )


# -- requests --------------------------------------------------------------------------------------

_counts = mostly(st.integers(1, 3) | st.just(2**32 - 1), st.sampled_from([0, *EXTREMES]))
counts: st.SearchStrategy[Any] = _counts | st.builds(
    lambda least, most, operator: {"min": least, "max": most, "operator": operator, "operand": 2},
    st.integers(1, 3),
    _counts,
    st.sampled_from("+*^"),
)


@st.composite
def resources(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A slot, below any number of other requests."""
    inside = [_resource(draw, type) for type in draw(st.sets(types, min_size=1, max_size=2))]
    found = [_resource(draw, draw(st.sampled_from(["slot"] * 8 + ["xor_slot"])), inside)]
    for _ in range(draw(mostly(st.integers(0, 2), st.sampled_from([31, 40])))):
        beside = [_resource(draw, "slot", inside)] if draw(rarely) else []
        found = [_resource(draw, draw(st.sampled_from(["node", "cluster"])), found), *beside]
    return found


def _resource(draw: st.DrawFn, type: str, held: Any = ()) -> dict[str, Any]:
    entry = {"type": type, "count": draw(counts), "label": "x"}
    return entry | {"with": held} if held else entry


durations = mostly(
    st.sampled_from([0, 0.5, 60, 3_153_600_000]), st.sampled_from([1e18, 1e300, *EXTREMES])
)


@st.composite
def jobspecs(draw: st.DrawFn) -> str:
    system: dict[str, Any] = {"duration": draw(durations)}
    if draw(rarely):
        system["constraints"] = {"hostlist": [draw(st.sampled_from(["v1", "n[0-4194303]"]))] * 3}
    return json.dumps(
        {
            "version": 9999,
            "resources": draw(resources()),
            "tasks": [],
            "attributes": {"system": system},
        }
    )
