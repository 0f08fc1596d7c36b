"""The error for an invalid jobspec, and helpers to describe values and paths in it.

    ValueError
      JobspecError      the text is not a valid jobspec; a retry does not help

There is one class of error, because there is one remedy: change the jobspec. So it names the key
(`path`), what was found there (`found`, in words) and what is allowed there (`allowed`).
"""

from __future__ import annotations

_MAX_QUOTE = 60
"""Maximum number of characters of a text that a message repeats."""


class JobspecError(ValueError):
    """A jobspec is invalid.

    >>> print(JobspecError("resources[0].count.min", "'two'", "an integer of at least 1"))
    resources[0].count.min: found 'two', expected an integer of at least 1
    """

    def __init__(self, path: str, found: str, allowed: str) -> None:
        super().__init__(path, found, allowed)
        self.path = path
        """The key, from the top of the document; empty for the document as a whole."""
        self.found = found
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.path or 'jobspec'}: found {self.found}, expected {self.allowed}"


def describe(value: object) -> str:
    """A decoded value as it is written in a jobspec, or its kind and length where it is long.

    >>> describe(True), describe(None), describe([1, 2])
    ('true', 'null', 'a list of 2')
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quote(value)
        case int():
            return str(value) if value.bit_length() <= 64 else "a huge integer"
        case float():
            return repr(float(value))
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"a mapping of {len(value)}"
    return f"a Python {type(value).__name__}"


def quote(text: str) -> str:
    """The text in quotes, cut where it gets long."""
    if len(text) <= _MAX_QUOTE:
        return repr(text)
    return f"{text[:_MAX_QUOTE]!r}..."


def child_path(path: str, key: str | int) -> str:
    """The path of an entry of the list or mapping at `path`.

    >>> child_path(child_path("resources", 0), "count")
    'resources[0].count'
    >>> child_path("attributes.user", "two words")
    "attributes.user['two words']"
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not key.replace("-", "_").isidentifier() or len(key) > _MAX_QUOTE:
        return f"{path}[{quote(key)}]"
    return f"{path}.{key}" if path else key
