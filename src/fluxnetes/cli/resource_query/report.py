"""The INFO blocks that stand under each result, to the byte as the reference writes them."""

from __future__ import annotations

from fluxnetes.match.answers import Answer, Outcome

RULE = "INFO: =============================\n"

_RESOURCES = {
    Outcome.ALLOCATED: "ALLOCATED",
    Outcome.RESERVED: "RESERVED",
    Outcome.MATCHED: "MATCHED",
}


def block(*lines: str) -> str:
    """INFO lines between two rules."""
    return RULE + "".join(f"INFO: {line}\n" for line in lines) + RULE


def schedule_block(answer: Answer) -> str:
    """The result of a match that places a request."""
    if not answer:
        lines = ["No matching resources found"]
        if answer.outcome is Outcome.UNSATISFIABLE:
            lines.append("Unsatisfiable request")
        return block(*lines, f"JOBID={answer.jobid}")
    return block(
        f"JOBID={answer.jobid}",
        f"RESOURCES={_RESOURCES[answer.outcome]}",
        f"SCHEDULED AT={answer.at if answer.at else 'Now'}",
    )


def satisfiability_block(answer: Answer) -> str:
    return block("Satisfiable request" if answer else "Unsatisfiable request")


def count_block(what: str, preorder: int, postorder: int) -> str:
    """How many vertices a cancel saw: `what` is CANCEL or PARTIAL CANCEL."""
    return block(
        f'{what} PREORDER COUNT="{preorder}"',
        f'{what} POSTORDER COUNT="{postorder}"',
    )


def elapsed_lines(seconds: float) -> str:
    """The lines that `-e` adds. The matcher works on columns and visits no vertex: counts are 0."""
    return (
        f"INFO: ELAPSE={seconds:.6f}\nINFO: PREORDER VISIT COUNT=0\nINFO: POSTORDER VISIT COUNT=0"
    )
