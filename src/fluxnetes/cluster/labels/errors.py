"""What is wrong with a label or an annotation."""

from __future__ import annotations

from fluxnetes.jobspec.errors import quote


class InvalidLabel(ValueError):  # noqa: N818 - reads better where it is raised and caught
    """A label or annotation whose value is invalid.

    >>> print(InvalidLabel("fluxnetes.io/group-size", "two", "a whole number from 1 to 100000"))
    fluxnetes.io/group-size: found 'two', expected a whole number from 1 to 100000
    """

    def __init__(self, key: str, value: str, expected: str) -> None:
        super().__init__(key, value, expected)
        self.key = key
        self.value = value
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.key}: found {quote(self.value)}, expected {self.expected}"
