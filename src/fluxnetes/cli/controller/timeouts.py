"""The timeouts of `fluxnetes controller`: `--timeout NAME=SECONDS` to `ControllerSettings`."""

from __future__ import annotations

import re
from dataclasses import fields

from fluxnetes.cli.deprecation import note_deprecated
from fluxnetes.controller.state import ControllerSettings

TIMEOUTS = {each.name.replace("_", "-"): each.name for each in fields(ControllerSettings)}
"""The field of `ControllerSettings` that each name sets."""

_OLD_NAMES = {
    "keep-seat": "replacement-pod",
    "stall": "stalled-group",
    "again": "retry-delay",
    "homeless": "orphan-pod",
    "grace": "forced-delete",
    "collision": "node-conflict",
}
"""The names that `--patience` had, and what they are called now."""

_PLAIN_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?")


def read_timeouts(given: tuple[str, ...]) -> ControllerSettings:
    """The settings from texts such as `orphan-pod=10`; ValueError says what is wrong with one."""
    found: dict[str, float] = {}
    for text in given:
        word, _, seconds = text.partition("=")
        name = _OLD_NAMES.get(word, word)
        if name not in TIMEOUTS:
            raise ValueError(
                f"--timeout {text}: expected one of {', '.join(TIMEOUTS)}, as NAME=SECONDS"
            )
        if not _PLAIN_NUMBER.fullmatch(seconds):
            raise ValueError(f"--timeout {text}: expected seconds after the =, as in {name}=60")
        if word != name:
            note_deprecated("controller", f"the timeout {word}", name)
        found[TIMEOUTS[name]] = float(seconds)
    return ControllerSettings(**found)
