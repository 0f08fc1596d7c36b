"""How many examples a property looks at, and which.

A plain run draws the same few examples each time, so that it is quick and a failure stays. The
environment variable FLUXNETES_EXAMPLES changes that:

    FLUXNETES_EXAMPLES=1000   every property looks at 1000 examples, new ones at every run
    FLUXNETES_EXAMPLES=10%    a tenth of the usual number, the same ones at every run

With FLUXNETES_SHRINK=0 a failure is shown as it was drawn, at once; to simplify a long story takes
minutes.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

_WANTED = os.environ.get("FLUXNETES_EXAMPLES", "100%")
_IS_SHARE = _WANTED.endswith("%")

_SKIPPED = {Phase.shrink, Phase.explain} if os.environ.get("FLUXNETES_SHRINK") == "0" else set()

IS_QUICK = _IS_SHARE and _WANTED != "100%"
"""Whether a run is to be quick, not thorough: `scripts/check`."""


def examples(usual: int) -> settings:
    """Look at this many examples, unless FLUXNETES_EXAMPLES says otherwise."""
    return settings(
        max_examples=max(1, usual * int(_WANTED[:-1]) // 100) if _IS_SHARE else int(_WANTED),
        derandomize=_IS_SHARE,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=tuple(phase for phase in Phase if phase not in _SKIPPED),
        suppress_health_check=list(HealthCheck),
    )
