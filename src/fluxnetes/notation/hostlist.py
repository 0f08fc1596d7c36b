"""Decodes and encodes hostlists (RFC 29): `node[0-3,7],login,rack[1-2]-node[01-16]`.

A bracket expands to each of its numbers, with their leading zeros; a name with several brackets
expands to every combination, the last bracket varying fastest. Order and repetition are
significant, so nothing is sorted: a list that is decoded and encoded again names the same hosts in
the same order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, product
from math import prod
from typing import NamedTuple

MAX_HOSTS = 2**22
"""Maximum number of names in one hostlist: a short text can expand to more than memory holds."""
MAX_NAME = 255
"""Maximum characters of a name that is expanded from brackets, for the same reason."""

_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?\Z")
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})\Z", re.DOTALL)


class HostlistError(ValueError):
    """A text is not a hostlist."""


# -- reading ---------------------------------------------------------------------------------------


def decode_hostlist(text: str, most: int = MAX_HOSTS) -> list[str]:
    """The names in a hostlist, in order; an error if there are more than `most`."""
    hosts: list[str] = []
    for word in _words(text):
        choices = _choices(word, text, most)
        count = prod(map(len, choices))
        _check_count(len(hosts) + count, text, most)
        if count > 1 and sum(len(choice[-1]) for choice in choices) > MAX_NAME:
            found = f"a name in brackets has more than {MAX_NAME} characters"
            raise HostlistError(f"hostlist {text[:80]!r}: {found}")
        hosts.extend(map("".join, product(*choices)))
    return hosts


def _words(text: str) -> list[str]:
    """Split at the commas and spaces that are outside of brackets."""
    words: list[str] = []
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth not in (0, 1):
            raise HostlistError(f"hostlist {text[:80]!r}: a {character!r} too many")
        if depth == 0 and (character == "," or character.isspace()):
            words.append(text[start:at])
            start = at + 1
    if depth:
        raise HostlistError(f"hostlist {text[:80]!r}: a '[' is not closed")
    return [word for word in (*words, text[start:]) if word]


def _choices(word: str, text: str, most: int) -> list[list[str]]:
    """The alternatives for each part of a name: one literal text, or every number of a bracket."""
    found: list[list[str]] = []
    count = 1
    for bracket, literal in _PIECE.findall(word):
        found.append([literal] if literal else _decode_bracket(bracket, text, most))
        count *= len(found[-1])
        _check_count(count, text, most)
    return found


def _decode_bracket(bracket: str, text: str, most: int) -> list[str]:
    ranges = [_decode_range(part, text) for part in bracket.split(",")]
    _check_count(sum(len(numbers) for _, numbers in ranges), text, most)
    return [f"{number:0{width}d}" for width, numbers in ranges for number in numbers]


def _decode_range(part: str, text: str) -> tuple[int, range]:
    """The width to which the numbers of a range are padded with zeros, and the numbers."""
    found = _RANGE.match(part)
    if found is None:
        raise HostlistError(
            f"hostlist {text[:80]!r}: expected a number or a range such as 0-3 in brackets, "
            f"found {part[:40]!r}"
        )
    low = int(found[1])
    high = low if found[2] is None else int(found[2])
    if high < low:
        raise HostlistError(f"hostlist {text[:80]!r}: range {part} ends before it starts")
    return len(found[1]), range(low, high + 1)


def _check_count(count: int, text: str, most: int) -> None:
    if count > most:
        raise HostlistError(f"hostlist {text[:80]!r} names more than {most} hosts")


# -- writing ---------------------------------------------------------------------------------------


def encode_hostlist(hosts: Sequence[str]) -> str:
    """The names as one text, in the given order: `node[0-1,3],login`."""
    runs = _runs([_split(host) for host in hosts])
    words: list[str] = []
    for (prefix, numbered), same_prefix in groupby(
        runs, key=lambda run: (run.prefix, run.numbered)
    ):
        group = list(same_prefix)
        if not numbered:
            words.extend(prefix for _ in group)
        elif len(group) == 1 and len(group[0].numbers) == 1:
            words.append(prefix + group[0].text)
        else:
            words.append(f"{prefix}[{','.join(run.text for run in group)}]")
    return ",".join(words)


class _Run(NamedTuple):
    """Hosts with one prefix and consecutive numbers; `numbered` is False for a bare name."""

    prefix: str
    width: int = 0
    numbers: range = range(0)

    @property
    def numbered(self) -> bool:
        return len(self.numbers) > 0

    @property
    def text(self) -> str:
        first, last = self.numbers[0], self.numbers[-1]
        start = f"{first:0{self.width}d}"
        return start if first == last else f"{start}-{last:0{self.width}d}"


def _split(host: str) -> _Run:
    found = _NUMBERED.match(host)
    if found is None:
        return _Run(host)
    number = int(found[2])
    return _Run(found[1], len(found[2]), range(number, number + 1))


def _runs(hosts: Sequence[_Run]) -> list[_Run]:
    """Join consecutive hosts: same prefix, next number, same padding with zeros."""
    runs: list[_Run] = []
    for host in hosts:
        last = runs[-1] if runs else None
        if last is not None and _continues(last, host):
            runs[-1] = last._replace(numbers=range(last.numbers.start, host.numbers.stop))
        else:
            runs.append(host)
    return runs


def _continues(run: _Run, host: _Run) -> bool:
    if not (run.numbered and host.numbered) or run.prefix != host.prefix:
        return False
    number = host.numbers.start
    return number == run.numbers.stop and host.width == max(run.width, len(str(number)))
