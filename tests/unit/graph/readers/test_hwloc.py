"""hwloc: the vertices that the objects of one machine become."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.graph.columns import GraphError, ResourceGraph
from fluxnetes.graph.readers.hwloc import load_hwloc
from tests.property.profile import examples


def obj(kind: str, *inside: str, **attributes: str) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<object type="{kind}"{written}>{"".join(inside)}</object>'


def info(name: str, value: str) -> str:
    return f'<info name="{name}" value="{value}"/>'


def machine(*inside: str, host: str = "host7") -> str:
    return (
        '<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc.dtd">'
        f"<topology>{obj('Machine', info('HostName', host), *inside)}</topology>"
    )


def core(*inside: str) -> str:
    return obj("Core", obj("PU"), obj("PU"), *inside)


def device(name: str, kind: str, *inside: str) -> str:
    return obj("Bridge", obj("PCIDev", obj("OSDev", *inside, name=name, osdev_type=kind)))


def tree(graph: ResourceGraph) -> list[str]:
    topology = graph.topology()
    return [
        "  " * int(depth) + graph.name(int(vertex))
        for vertex, depth in zip(topology.vertex, topology.depth, strict=True)
    ]


DISK = device("sda", "0", info("Size", "1562813784"), info("LinuxDeviceID", "8:0"))
BAD_CACHE = obj("L2Cache", core(), core(), cache_size="x")


def test_a_machine_becomes_a_node_named_after_its_host() -> None:
    graph = load_hwloc(machine(obj("Package", core(), core()), obj("Package", core())))
    assert tree(graph) == [
        "cluster0",
        "  host7",
        "    socket0",
        "      core0",
        "        pu0",
        "        pu1",
        "      core1",
        "        pu2",
        "        pu3",
        "    socket1",
        "      core2",
        "        pu4",
        "        pu5",
    ]
    assert (graph.basename(1), int(graph.id[1])) == ("host", 7)


def test_what_is_not_allowed_hands_what_it_holds_upward() -> None:
    text = machine(obj("Package", core(DISK)))
    assert tree(load_hwloc(text, ["node", "core"])) == ["cluster0", "  host7", "    core0"]
    assert tree(load_hwloc(text, ["storage"])) == ["cluster0", "  storage0"]


def test_a_machine_without_a_host_name_is_left_out() -> None:
    text = f"<topology>{obj('Machine', core())}</topology>"
    assert tree(load_hwloc(text, ["node", "core"])) == ["cluster0", "  core0"]


def test_storage_tells_its_size_in_gigabytes_and_its_device() -> None:
    graph = load_hwloc(machine(DISK), ["storage"])
    assert graph.size.tolist() == [1, 1562]
    assert graph.properties(1) == {"LinuxDeviceID": "8:0"}


def test_devices_come_after_processors_and_count_among_all_devices() -> None:
    network = device("eth0", "2")
    dma = device("dma0chan0", "4")
    text = machine(obj("Package", dma, network, DISK, core()))
    allowed = ["node", "socket", "core", "storage"]
    assert tree(load_hwloc(text, allowed))[2:] == ["    socket0", "      core0", "      storage1"]


@pytest.mark.parametrize(
    ("name", "kind", "gpus"),
    [
        ("cuda3", "5", ["gpu3"]),
        ("opencl0d2", "5", ["gpu2"]),
        ("rsmi5", "1", ["gpu5"]),
        ("mic", "5", ["gpu0"]),
        ("card0", "1", []),
        ("eth0", "2", []),
    ],
)
def test_a_gpu_is_numbered_by_its_driver(name: str, kind: str, gpus: list[str]) -> None:
    graph = load_hwloc(machine(device(name, kind)), ["gpu"])
    assert [graph.name(v) for v in range(1, graph.vertex_count)] == gpus


def test_caches_have_a_level_and_a_size_in_kib() -> None:
    new = [obj("L2Cache", core(), core(), cache_size="1048576") for _ in range(2)]
    old = [
        obj("Cache", core(), core(), cache_size="1048576", depth="2", cache_type="0")
        for _ in range(2)
    ]
    for caches in (new, old):
        graph = load_hwloc(machine(*caches), ["L2cache"])
        assert [graph.name(v) for v in range(3)] == ["cluster0", "L2cache0", "L2cache1"]
        assert graph.type_name(1) == "cache"
        assert int(graph.size[1]) == 1024


def test_caches_and_groups_that_add_no_structure_are_left_out() -> None:
    def with_l1() -> str:
        instruction = obj("L1iCache", core(), cache_size="1024")
        return obj("L1Cache", instruction, cache_size="1024")

    package = obj("Package", obj("L3Cache", with_l1(), with_l1(), DISK, cache_size="4096"))
    graph = load_hwloc(machine(obj("Group", package)))
    assert [name.strip() for name in tree(graph) if "pu" not in name] == [
        "cluster0",
        "host7",
        "socket0",
        "core0",
        "core1",
        "storage0",
    ]


def test_a_numa_node_of_version_1_is_a_leaf_beside_what_it_held() -> None:
    def numa() -> str:
        return obj("NUMANode", core(), core(), device("cuda0", "5"))

    allowed = ["node", "socket", "core", "numanode", "gpu"]
    graph = load_hwloc(machine(obj("Socket", numa(), numa())), allowed)
    assert tree(graph) == [
        "cluster0",
        "  host7",
        "    socket0",
        "      core0",
        "      core1",
        "      numanode0",
        "      gpu0",
        "      core2",
        "      core3",
        "      numanode1",
        "      gpu0",
    ]


def test_a_numa_node_of_version_2_comes_after_the_processors() -> None:
    text = machine(obj("Package", obj("NUMANode"), core()))
    assert tree(load_hwloc(text, ["core", "numanode"])) == ["cluster0", "  core0", "  numanode0"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not an hwloc topology"),
        ("<topology/>", "expected <topology>"),
        (machine(device("sda", "0")), "Size of 'sda' must be a number, not None"),
        (machine(device("sda", "0", info("Size", "0"))), "'sda' has Size 0"),
        (machine(BAD_CACHE, BAD_CACHE), "cache_size of 'L2Cache'"),
        (machine(host="h" + "9" * 19), "too large"),
        ("<topology>" + "<object>" * 300 + "</object>" * 300 + "</topology>", "nested more than"),
    ],
)
def test_a_topology_that_makes_no_sense_is_refused_with_the_object(text: str, why: str) -> None:
    with pytest.raises(GraphError, match=why):
        load_hwloc(text)


# -- devices beside a package ----------------------------------------------------------------------

SOCKETS_AND_GPUS = ("node", "socket", "core", "gpu")
MEMORY_ONLY = obj("NUMANode")


def power9(package: int) -> str:
    """One half of a machine: a group around a NUMA node around a group with a package and a GPU."""
    gpu = device(f"cuda{package}", "5")
    inner = obj("Group", obj("Socket", core(), core()), gpu)
    return obj("Group", obj("NUMANode", inner), MEMORY_ONLY)


@pytest.mark.parametrize(
    "beside",
    [
        "",
        MEMORY_ONLY,
        MEMORY_ONLY * 4,
        obj("Group", MEMORY_ONLY),
        obj("Group", obj("Group", MEMORY_ONLY)) + obj("Group", MEMORY_ONLY, MEMORY_ONLY),
    ],
)
def test_a_device_in_a_group_with_one_package_belongs_to_that_package(beside: str) -> None:
    graph = load_hwloc(machine(power9(0), power9(1), beside), SOCKETS_AND_GPUS)
    assert tree(graph) == [
        "cluster0",
        "  host7",
        "    socket0",
        "      core0",
        "      core1",
        "      gpu0",
        "    socket1",
        "      core2",
        "      core3",
        "      gpu1",
    ]


def test_a_device_in_a_group_with_two_packages_belongs_to_neither() -> None:
    gpu = device("cuda0", "5")
    two = obj("Group", obj("Package", core()), obj("Package", core()), gpu)
    graph = load_hwloc(machine(two, obj("Package", core())), SOCKETS_AND_GPUS)
    assert "    gpu0" in tree(graph)


def test_a_device_of_the_machine_stays_there() -> None:
    graph = load_hwloc(machine(obj("Package", core()), device("cuda0", "5")), SOCKETS_AND_GPUS)
    assert tree(graph)[-1] == "    gpu0"


Place = tuple[str, list["Place"]]


def places(children: st.SearchStrategy[list[Place]]) -> st.SearchStrategy[list[Place]]:
    kinds = st.sampled_from(["Group", "NUMANode", "Group", "Package", "gpu"])
    return st.lists(st.tuples(kinds, children), max_size=3)


layouts: st.SearchStrategy[list[Place]] = st.recursive(st.just([]), places, max_leaves=12)


def written(layout: list[Place], in_package: bool, numbers: Iterator[int]) -> str:
    """A layout as XML: a package holds a core, and a device has a number of its own."""
    found = ""
    for kind, inside in layout:
        if kind == "gpu":
            found += device(f"cuda{next(numbers)}", "5")
        elif kind == "Package" and in_package:
            found += written(inside, in_package, numbers)
        else:
            within = in_package or kind == "Package"
            held = core() * (kind == "Package") + written(inside, within, numbers)
            found += obj(kind, held)
    return found


def sockets_of_gpus(text: str) -> dict[str, int | None]:
    """By device, the number of its package: the one around it, or the only one beside it."""
    packages: list[ElementTree.Element] = []
    parents: dict[ElementTree.Element, ElementTree.Element] = {}
    for element in ElementTree.fromstring(text).iter():  # noqa: S314 - made above
        parents.update(dict.fromkeys(element, element))
        packages += [element] * (element.get("type") == "Package")
    found: dict[str, int | None] = {}
    for element in (e for e in list(parents) if e.get("name", "").startswith("cuda")):
        at, is_near = parents[parents[parents[element]]], None
        here = at
        while here.get("type") in ("Group", "NUMANode"):
            here = parents[here]
        if here.get("type") == "Package":
            is_near = here
        elif at.get("type") in ("Group", "NUMANode"):
            inside = [package for package in packages if package in set(at.iter())]
            is_near = inside[0] if len(inside) == 1 else None
        found[element.get("name", "")] = None if is_near is None else packages.index(is_near)
    return found


@examples(200)
@given(layouts)
def test_each_device_is_below_the_package_with_the_cpus_of_its_place(layout: list[Place]) -> None:
    text = machine(obj("Package", core()), written(layout, False, count()))
    graph = load_hwloc(text, SOCKETS_AND_GPUS)
    topology = graph.topology()
    found: dict[str, int | None] = {}
    for position, vertex in enumerate(topology.vertex.tolist()):
        if graph.type_name(vertex) == "gpu":
            above = int(topology.vertex[topology.parent[position]])
            is_socket = graph.type_name(above) == "socket"
            found[f"cuda{graph.id[vertex]}"] = int(graph.id[above]) if is_socket else None
    assert found == sockets_of_gpus(text)


@given(st.binary(max_size=20), st.integers(0, 700))
def test_a_damaged_topology_loads_or_is_a_graph_error(noise: bytes, at: int) -> None:
    text = machine(obj("Package", core(), DISK)).encode()
    try:
        load_hwloc(text[:at] + noise + text[at + len(noise) :])
    except GraphError as error:
        assert str(error)
