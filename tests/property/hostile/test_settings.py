"""Traces and files of settings: a value, or an error that says what is wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxnetes.cli.controller.config import read_cluster_config, read_config
from fluxnetes.common.yaml_text import YamlError, load_yaml
from fluxnetes.kube.auth.kubeconfig import Kubeconfig
from fluxnetes.kube.errors import ConfigError
from fluxnetes.simulate.cluster import uniform_cluster
from fluxnetes.simulate.engine import run_policy
from fluxnetes.simulate.errors import SimulationError
from fluxnetes.simulate.metrics import measure
from fluxnetes.simulate.policies import parse_policy
from fluxnetes.simulate.report import write_report
from fluxnetes.simulate.swf import read_header, read_swf
from tests.property.hostile.documents import EXTREMES, mostly
from tests.property.profile import examples

fields = mostly(
    st.integers(-1, 9).map(str),
    st.sampled_from([*map(str, EXTREMES), "1e300", "nan", "inf", "-1e9", "12.5", "x", "9" * 5000]),
)
lines = st.lists(fields, min_size=18, max_size=18).map(" ".join)
headers = st.sampled_from(["; MaxProcs: 4\n", "; MaxProcs: " + "9" * 5000 + "\n", ";\n", ""])


@examples(150)
@given(headers, st.lists(lines, min_size=1, max_size=6), st.sampled_from([1.0, 3.7, 1e6, 1e300]))
def test_a_trace_is_simulated_or_refused(header: str, jobs: list[str], overestimate: float) -> None:
    with TemporaryDirectory() as folder:
        trace = Path(folder, "t.swf")
        trace.write_bytes(gzip.compress((header + "\n".join(jobs)).encode()))
        try:
            read_header(trace)
            workload = read_swf(trace, 4, overestimate=overestimate)
            schedule = run_policy("easy", parse_policy("easy"), workload, uniform_cluster(4, 1))
        except SimulationError as error:
            assert len(str(error)) < 500
            return
    figures = measure(schedule)
    assert 0 <= figures.utilisation <= 1
    assert figures.mean_wait >= 0
    assert write_report([schedule])


DEEP = ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000]


@pytest.mark.parametrize("text", [*DEEP, *(f"queues: {text}" for text in DEEP)])
def test_settings_that_are_nested_too_deeply_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"file\.yaml is not YAML: "):
        read_config(file)
    with pytest.raises(ValueError, match=r"file\.yaml is not YAML: "):
        read_cluster_config(file)
    with pytest.raises(ConfigError, match=r"file\.yaml is not YAML: "):
        Kubeconfig([file])


def test_aliases_that_multiply_are_refused() -> None:
    text = "a0: &a0 [x]\n"
    for number in range(1, 30):
        text += f"a{number}: &a{number} [*a{number - 1}, *a{number - 1}]\n"
    with pytest.raises(YamlError, match="each alias counted with its content"):
        load_yaml(text)


numbers = st.sampled_from(
    [*map(str, EXTREMES), "-1", "0", "7", ".inf", ".nan", "1e999", "9" * 5000]
)
names = ("max_walltime", "grace", "reservations", "depth", "default_walltime", "priority")


@examples(150)
@given(st.dictionaries(st.sampled_from(names), numbers, max_size=3), numbers, st.text(max_size=20))
def test_a_configuration_is_read_or_refused(
    settings: dict[str, str], weight: str, tail: str
) -> None:
    queue = "".join(f"    {name}: {value}\n" for name, value in settings.items())
    text = f"queues:\n  - name: q\n{queue}weights:\n  age: {weight}\n# {tail}"
    with TemporaryDirectory() as folder:
        file = Path(folder, "queues.yaml")
        file.write_text(text, errors="surrogatepass" if tail.isascii() else "replace")
        for read in (read_config, read_cluster_config):
            try:
                read(file)
            except ValueError as error:
                assert "queues.yaml" in str(error)
