"""The commands about jobs: match, multi-match, update, cancel, partial-cancel, list, info, stat."""

from __future__ import annotations

import time
from collections.abc import Sequence

from fluxnetes.cli.resource_query.report import (
    count_block,
    elapsed_lines,
    satisfiability_block,
    schedule_block,
)
from fluxnetes.cli.resource_query.session import (
    CommandError,
    JobNote,
    QuerySession,
    read_bytes,
    read_text,
    whole_number,
)
from fluxnetes.common.reasons import Reason, ReasonCode
from fluxnetes.graph.columns import GraphError
from fluxnetes.jobspec.errors import JobspecError
from fluxnetes.jobspec.parse import parse_jobspec
from fluxnetes.match.answers import Answer, Operation, Outcome
from fluxnetes.match.errors import MatchError, UnknownMatchJob

UPDATE_FORMATS = ("jgf", "jgf_shorthand", "rv1exec")
PARTIAL_CANCEL_FORMATS = ("jgf", "rv1exec")


def match(session: QuerySession, args: Sequence[str]) -> None:
    """match OPERATION JOBSPEC"""
    _match_file(session, _operation(args[0]), args[1])


def multi_match(session: QuerySession, args: Sequence[str]) -> None:
    """multi-match OPERATION JOBSPEC JOBSPEC...: stops at the first that does not match."""
    operation = _operation(args[0])
    for file in args[1:]:
        if not _match_file(session, operation, file):
            break


def _operation(word: str) -> Operation:
    try:
        return Operation(word)
    except ValueError:
        known = ", ".join(o.value for o in Operation)
        raise CommandError(f"unknown subcmd {word}; there is: {known}") from None


def _match_file(session: QuerySession, operation: Operation, file: str) -> Answer:
    source = read_bytes(file)
    began = time.perf_counter()
    answer = _ask(session, operation, source)
    session.result(session.render(answer.placement))
    _report(session, operation, answer, file, time.perf_counter() - began)
    return answer


def _ask(session: QuerySession, operation: Operation, source: bytes) -> Answer:
    """Match a request; one that cannot be parsed is invalid and uses no job id."""
    try:
        jobspec = parse_jobspec(source)
    except JobspecError as error:
        return Answer(
            Outcome.INVALID,
            session.matcher.next_jobid,
            reason=Reason.from_text(str(error), ReasonCode.INVALID),
        )
    return session.matcher.match(operation, jobspec, now=0)


def _report(
    session: QuerySession, operation: Operation, answer: Answer, file: str, elapsed: float
) -> None:
    if operation is Operation.SATISFIABILITY:
        session.result(satisfiability_block(answer))
    else:
        session.result(schedule_block(answer))
    if session.elapse_time:
        session.say(elapsed_lines(elapsed))
    if answer.outcome in (Outcome.ALLOCATED, Outcome.RESERVED):
        session.notes[answer.jobid] = JobNote(file, elapsed)
    elif not answer:
        session.complain(f"job {answer.jobid} is {answer.outcome.value}: {answer.reason}")


def update(session: QuerySession, args: Sequence[str]) -> None:
    """update {allocate|reserve} FORMAT FILE JOBID START DURATION"""
    how, format, file = args[:3]
    if how not in ("allocate", "reserve"):
        raise CommandError(f"unknown subcmd {how}; there is: allocate, reserve")
    if format not in UPDATE_FORMATS:
        raise CommandError(f"unsupported reader {format}; there is: {', '.join(UPDATE_FORMATS)}")
    text = read_text(file)
    jobid = whole_number(args[3], "jobid")
    if _is_active(session, jobid):
        raise CommandError(f"existing Jobid {jobid}")
    at, duration = whole_number(args[4], "starttime"), whole_number(args[5], "duration")
    if at < 0 or duration <= 0:
        raise CommandError(f"invalid time ({at}, {duration})")
    began = time.perf_counter()
    answer = _adopt(session, text, format, jobid, at, duration)
    session.result(session.render(answer.placement))
    elapsed = time.perf_counter() - began
    _report(session, Operation.ALLOCATE, answer, file, elapsed)


def _adopt(
    session: QuerySession, text: str, format: str, jobid: int, at: int, duration: int
) -> Answer:
    """Adopt an allocation; a failure uses the job id too, as in the reference."""
    try:
        return session.matcher.update(text, format, jobid=jobid, at=at, duration=duration)
    except (MatchError, GraphError) as error:
        session.matcher.next_jobid = jobid + 1
        return Answer(
            Outcome.INVALID, jobid, reason=Reason.from_text(str(error), ReasonCode.INVALID)
        )


def _is_active(session: QuerySession, jobid: int) -> bool:
    job = session.matcher.jobs.get(jobid)
    return job is not None and job.state != "CANCELED"


def cancel(session: QuerySession, args: Sequence[str]) -> None:
    """cancel JOBID [stats]"""
    jobid = whole_number(args[0], "jobid")
    try:
        counts = session.matcher.cancel(jobid)
    except UnknownMatchJob:
        raise CommandError(f"nonexistent job {jobid}") from None
    if args[1:] == ["stats"]:
        session.result(count_block("CANCEL", counts.preorder, counts.postorder))


def partial_cancel(session: QuerySession, args: Sequence[str]) -> None:
    """partial-cancel JOBID {jgf|rv1exec} FILE [stats]: the job gives back what the file names."""
    jobid, format = whole_number(args[0], "jobid"), args[1]
    if format not in PARTIAL_CANCEL_FORMATS:
        known = ", ".join(PARTIAL_CANCEL_FORMATS)
        raise CommandError(f"unsupported reader {format}; there is: {known}")
    text = read_text(args[2])
    if not _is_active(session, jobid):
        raise CommandError(f"nonexistent job {jobid}")
    if session.matcher.jobs[jobid].reserved:
        raise CommandError("reservations not currently supported by partial cancel")
    try:
        session.matcher.partial_cancel(jobid, text, format)
    except (MatchError, GraphError) as error:
        session.complain(f"ERROR: error encountered while removing job {jobid}: {error}")
    if args[3:] == ["stats"]:
        session.result(count_block("PARTIAL CANCEL", 0, 0))


def list_jobs(session: QuerySession, args: Sequence[str]) -> None:
    """list"""
    for jobid in sorted(session.matcher.jobs):
        _show_job(session, jobid)


def info(session: QuerySession, args: Sequence[str]) -> None:
    """info JOBID"""
    jobid = whole_number(args[0], "jobid")
    if jobid in session.matcher.jobs:
        _show_job(session, jobid)
    else:
        session.say(f"ERROR: jobid doesn't exist: {jobid}")


def _show_job(session: QuerySession, jobid: int) -> None:
    job = session.matcher.jobs[jobid]
    note = session.notes[jobid]
    session.say(f"INFO: {jobid}, {job.state}, {job.at}, {note.file}, {note.elapsed:g}")


def stat(session: QuerySession, args: Sequence[str]) -> None:
    """stat"""
    times = [note.elapsed for note in session.notes.values()] or [0.0]
    session.say(f"INFO: Num. of Jobs Matched: {len(session.notes)}")
    session.say(f"INFO: Min. Match Time: {min(times):g}")
    session.say(f"INFO: Max. Match Time: {max(times):g}")
    session.say(f"INFO: Avg. Match Time: {sum(times) / len(times):g}")
