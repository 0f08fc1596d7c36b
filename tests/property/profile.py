"""How many examples, and which.

A plain run draws the same few examples each time, so that it is quick and a failure stays. With
FLUXNETES_EXAMPLES=N every property looks at N examples, new ones at every run.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_WANTED = os.environ.get("FLUXNETES_EXAMPLES")


def examples(usual: int) -> settings:
    """Look at this many examples, unless told otherwise."""
    return settings(
        max_examples=int(_WANTED) if _WANTED else usual,
        derandomize=_WANTED is None,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
