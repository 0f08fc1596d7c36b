"""One function reads all formats."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fluxnetes.graph.columns import GraphError
from fluxnetes.graph.readers import FORMATS, read_graph

R = json.dumps(
    {
        "version": 1,
        "execution": {"R_lite": [{"rank": "0", "children": {"core": "0-1"}}], "nodelist": ["n0"]},
    }
)
JGF = json.dumps(
    {
        "graph": {
            "nodes": [
                {"id": "0", "metadata": {"type": "panel", "paths": {"power": "/panel0"}}},
                {"id": "1", "metadata": {"type": "pdu", "paths": {"power": "/panel0/pdu1"}}},
            ],
            "edges": [{"source": "0", "target": "1", "metadata": {"subsystem": "power"}}],
        }
    }
)
GRUG = (
    '<graphml><key id="r" attr.name="root"/><key id="t" attr.name="type"/><graph>'
    '<node id="c"><data key="r">1</data><data key="t">cluster</data></node>'
    '<node id="n"><data key="t">node</data></node><edge source="c" target="n"/></graph></graphml>'
)
HWLOC = '<topology><object type="Machine"><object type="Core"/></object></topology>'
TEXTS = {
    "grug": GRUG,
    "jgf": JGF,
    "jgf_shorthand": JGF,
    "rv1exec": R,
    "rv1exec_force": R,
    "hwloc": HWLOC,
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_read_from_text_and_from_bytes(format: str) -> None:
    text = TEXTS[format]
    assert read_graph(text, format).vertex_count == read_graph(text.encode(), format).vertex_count


def test_the_allowlist_limits_what_hwloc_gives() -> None:
    assert read_graph(HWLOC, "hwloc").vertex_count == 2
    assert read_graph(HWLOC, "hwloc", allowlist=["gpu"]).vertex_count == 1


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(GraphError, match=r"unknown graph format 'yaml'; known are grug, jgf"):
        read_graph("", "yaml")


def test_a_graph_in_which_nothing_holds_the_rest_is_refused() -> None:
    nodes = [{"id": str(i), "metadata": {"type": "core", "paths": {}}} for i in range(2)]
    with pytest.raises(GraphError):
        read_graph(json.dumps({"graph": {"nodes": nodes, "edges": []}}), "jgf")


def test_the_xml_parser_is_not_loaded_for_a_format_without_xml() -> None:
    script = (
        "import sys; from fluxnetes.graph.readers import read_graph; "
        f"read_graph({R!r}, 'rv1exec'); "
        "sys.exit(any(name.startswith(('xml', 'pyexpat')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
