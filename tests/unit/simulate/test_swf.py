"""Traces are read as the rules say, and complaints name the line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from fluxnetes.simulate.errors import SimulationError, TraceError
from fluxnetes.simulate.swf import TraceHeader, parse_jobs, read_header, read_swf
from fluxnetes.simulate.workload import SkippedJob, WorkloadJob
from tests.unit.simulate.traces import LUBLIN, NASA, swf_line, trace


def read(line: str, overestimate: float = 1.0) -> WorkloadJob | SkippedJob:
    (job,) = parse_jobs("t", [line.encode()], overestimate)
    return job


def job(line: str, overestimate: float = 1.0) -> WorkloadJob:
    found = read(line, overestimate)
    assert isinstance(found, WorkloadJob)
    return found


def test_every_field_is_read_from_its_place() -> None:
    line = "7 100 5 60 16 55 1000 32 3600 2000 1 4 2 9 1 3 6 30"
    assert job(line) == WorkloadJob(7, 100, 60, 3600, 16, 4, 2)


@pytest.mark.parametrize("allocated", [-1, 0])
def test_the_size_is_the_requested_one_where_none_was_allocated(allocated: int) -> None:
    assert job(swf_line(allocated=allocated, requested=8)).size == 8


@pytest.mark.parametrize(
    ("runtime", "overestimate", "walltime"), [(60, 1, 60), (7, 1.5, 11), (0, 3, 1), (1, 1.01, 2)]
)
def test_without_a_requested_time_the_walltime_follows_from_the_run_time(
    runtime: int, overestimate: float, walltime: int
) -> None:
    assert job(swf_line(runtime=runtime), overestimate).walltime == walltime


def test_a_requested_time_is_not_overestimated_again() -> None:
    assert job(swf_line(time=90), 5).walltime == 90


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (swf_line(runtime=-1), SkippedJob.NO_RUN_TIME),
        (swf_line(allocated=-1), SkippedJob.NO_SIZE),
        (swf_line(allocated=0, requested=0), SkippedJob.NO_SIZE),
        (swf_line(submit=-1), SkippedJob.NO_SUBMIT_TIME),
    ],
)
def test_what_cannot_be_run_is_skipped_for_a_reason(line: str, why: SkippedJob) -> None:
    assert read(line) is why


def test_a_job_of_no_run_time_is_run() -> None:
    assert job(swf_line(runtime=0)).runtime == 0


def test_numbers_may_be_written_with_a_fraction() -> None:
    assert job(swf_line(submit="12.0", runtime="59.7")).runtime == 60


def test_comments_empty_lines_and_parts_of_jobs_are_no_jobs() -> None:
    text = [b"; a comment\n", b"\n", b"  ;another\n", swf_line(status=2).encode(), b"   \n"]
    assert list(parse_jobs("t", text)) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("1 2 3\n", "t, line 3: found 3 fields, expected the 18 of a job, or a comment (;)"),
        (
            swf_line(runtime="soon"),
            "t, line 3: found 'soon', expected a number (field 4, the run time; -1: not known)",
        ),
        (swf_line(runtime="nan"), "found 'nan'"),
        (swf_line(submit="inf"), "field 2, the submit"),
        (swf_line(submit="9" * 400), "found '" + "9" * 40 + "...'"),
        (swf_line(runtime=2**60), "field 4, the run time"),
        (swf_line().strip() + " 19th\n", "found 19 fields"),
    ],
)
def test_a_complaint_names_the_line_and_what_stands_there(line: str, complaint: str) -> None:
    text = [b"; Version: 2\n", swf_line().encode(), line.encode()]
    with pytest.raises(TraceError) as refused:
        list(parse_jobs("t", text))
    assert complaint in str(refused.value)


def test_any_bytes_are_read_or_refused_by_line() -> None:
    with pytest.raises(TraceError, match="line 1"):
        list(parse_jobs("t", [b"\xff\xfe\x00 8\n"]))


@pytest.mark.parametrize("name", ["t.swf", "t.swf.gz", "named-wrongly.swf"])
def test_a_file_may_be_compressed_whatever_its_name(tmp_path: Path, name: str) -> None:
    text = swf_line().encode()
    (tmp_path / name).write_bytes(text if name == "t.swf" else gzip.compress(text))
    assert len(read_swf(tmp_path / name, 4)) == 1


def test_a_gzip_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.gz").write_bytes(gzip.compress(swf_line().encode() * 999)[:-20])
    with pytest.raises(SimulationError, match="not a whole gzip file"):
        read_swf(tmp_path / "t.gz", 4)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match=r"can't read the trace .*nowhere.swf: No such file"):
        read_swf(tmp_path / "nowhere.swf", 4)


def test_jobs_come_in_order_of_submission_and_ties_in_that_of_the_trace(tmp_path: Path) -> None:
    lines = [swf_line(1, 50), swf_line(2, 10), swf_line(3, 50), swf_line(4, 10)]
    (tmp_path / "t").write_text("".join(lines))
    assert read_swf(tmp_path / "t", 4).number.tolist() == [2, 4, 1, 3]


def test_what_is_skipped_is_counted_by_reason(tmp_path: Path) -> None:
    lines = [swf_line(allocated=5), swf_line(), swf_line(runtime=-1), swf_line(allocated=9)]
    (tmp_path / "t").write_text("".join(lines))
    found = read_swf(tmp_path / "t", 4)
    assert len(found) == 1
    assert found.skipped == {SkippedJob.TOO_LARGE: 2, SkippedJob.NO_RUN_TIME: 1}


def test_an_empty_trace_is_an_empty_workload(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("; nothing ran\n")
    assert len(read_swf(tmp_path / "t", 4)) == 0


@pytest.mark.parametrize("factor", [0.5, 0, -1, float("nan"), float("inf")])
def test_a_factor_that_would_kill_jobs_is_refused(tmp_path: Path, factor: float) -> None:
    (tmp_path / "t").write_text(swf_line())
    with pytest.raises(SimulationError, match="at least 1"):
        read_swf(tmp_path / "t", 4, overestimate=factor)


def test_the_header_says_how_large_the_machine_was(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(
        ";MaxNodes: 64 \n; MaxProcs:  128\n" + swf_line() + "; MaxNodes: 9\n"
    )
    assert read_header(tmp_path / "t") == TraceHeader(64, 128)


def test_a_header_need_not_say_anything(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("; MaxNodes: many\n; Note: a: 12:30\n")
    assert read_header(tmp_path / "t") == TraceHeader()


def test_the_trace_of_nasa_is_read_whole() -> None:
    found = read_swf(trace(NASA), 128)
    assert len(found) == 18_239
    assert found.skipped == {}
    assert found.user.min() >= 1
    assert read_header(trace(NASA)).processors == 128


def test_the_trace_of_lublin_is_read_whole() -> None:
    found = read_swf(trace(LUBLIN), 256)
    assert len(found) == 10_000
    assert (found.walltime == found.runtime).all()
    assert len(read_swf(trace(LUBLIN), 128)) == (found.size <= 128).sum()
