"""Parses Kubernetes quantities into whole numbers.

    cpu                                      millicores      "250m" is 250, "1.5" is 1500
    memory, ephemeral-storage, hugepages-*   MiB             "1Gi" is 1024, "1G" is 954 or 953
    pods, and all others                     pieces          "4" is 4

Requests are rounded up and capacities are rounded down, so that what fits by our numbers fits by
those of Kubernetes. A pod's containers are added up first and rounded once (`measure`, then
`in_units`): five containers of 100M are 477 MiB, not 480.

Ten thousand pods have the same few texts, so each text is parsed once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from fluxnetes.graph.pools import MAX_AMOUNT
from fluxnetes.jobspec.errors import quote

LARGEST = MAX_AMOUNT - 1
"""Maximum of a capacity. Requests are cut at one more, which fits nowhere."""

_EXPECTED = "a Kubernetes quantity of at least 0, such as 500m, 2 or 1.5Gi"
_QUANTITY = re.compile(
    r"([+-]?)(?=[.]?[0-9])([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i)?)"
)
_LONGEST = 64
"""Maximum characters of a quantity."""
_SUFFIXES = {"": Fraction(1)}
_SUFFIXES |= {suffix: Fraction(1, 1000**power) for power, suffix in enumerate("mun", 1)}
_SUFFIXES |= {suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", 1)}
_SUFFIXES |= {suffix + "i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", 1)}
_MEBI = 20
"""Bits that make a MiB of bytes."""


class InvalidQuantity(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A text that is no quantity, or is negative.

    >>> print(InvalidQuantity("2 GB", "memory"))
    memory: found '2 GB', expected a Kubernetes quantity of at least 0, such as 500m, 2 or 1.5Gi
    """

    def __init__(self, found: str, path: str = "") -> None:
        super().__init__(found, path)
        self.found = found
        self.path = path

    def __str__(self) -> str:
        return f"{self.path or 'quantity'}: found {quote(self.found)}, expected {_EXPECTED}"


def exact(text: str) -> Fraction:
    """The exact number that a text stands for."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise InvalidQuantity(text)
    sign, whole, part, exponent, suffix = match.groups()
    number = Fraction(int(whole + part or "0"), 10 ** len(part))
    number *= Fraction(10) ** int(exponent) if exponent else _SUFFIXES[suffix or ""]
    if sign == "-" and number:
        raise InvalidQuantity(text)
    return number


@lru_cache(maxsize=4096)
def whole(text: str, *, up: bool = True) -> int:
    """The number in pieces."""
    return _rounded(exact(text), up)


@lru_cache(maxsize=4096)
def millis(text: str, *, up: bool = True) -> int:
    """The number in thousandths: millicores.

    >>> millis("250m"), millis("1.5"), millis("100u")
    (250, 1500, 1)
    """
    return _rounded(exact(text) * 1000, up)


@lru_cache(maxsize=4096)
def mebibytes(text: str, *, up: bool) -> int:
    """A number of bytes in MiB.

    >>> mebibytes("1Gi", up=True), mebibytes("1G", up=True), mebibytes("1G", up=False)
    (1024, 954, 953)
    """
    return _rounded(exact(text) / (1 << _MEBI), up)


def _rounded(number: Fraction, up: bool) -> int:
    return min(ceil(number), LARGEST + 1) if up else min(floor(number), LARGEST)


# --- by the name of the resource ---------------------------------------------------------------


@lru_cache(maxsize=1024)
def is_bytes(resource: str) -> bool:
    """Whether a resource is counted in bytes, and by us in MiB."""
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


@lru_cache(maxsize=16384)
def measure(resource: str, text: str) -> int:
    """A request before rounding, so that requests can be added: in millicores, bytes or pieces."""
    try:
        return ceil(exact(text) * 1000 if resource == "cpu" else exact(text))
    except InvalidQuantity as bad:
        raise InvalidQuantity(bad.found, resource) from None


def in_units(resource: str, measured: int) -> int:
    """A sum of requests in our units: bytes become MiB, rounded up."""
    if is_bytes(resource):
        measured = -(-measured >> _MEBI)
    return min(measured, LARGEST + 1)


@lru_cache(maxsize=16384)
def _amount(resource: str, text: str, up: bool) -> int:
    try:
        if resource == "cpu":
            return millis(text, up=up)
        return mebibytes(text, up=up) if is_bytes(resource) else whole(text, up=up)
    except InvalidQuantity as bad:
        raise InvalidQuantity(bad.found, resource) from None


def amounts(quantities: Mapping[str, str], *, up: bool) -> dict[str, int]:
    """All of them in our units.

    >>> amounts({"cpu": "2", "memory": "1Gi", "pods": "110", "nvidia.com/gpu": "8"}, up=False)
    {'cpu': 2000, 'memory': 1024, 'pods': 110, 'nvidia.com/gpu': 8}
    """
    return {name: _amount(name, text, up) for name, text in quantities.items()}
