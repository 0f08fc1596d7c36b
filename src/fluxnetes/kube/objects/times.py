"""Times in the format that the server requires for leases and events (MicroTime)."""

from __future__ import annotations

from datetime import UTC, datetime


def micro_time(moment: datetime) -> str:
    """The time with six digits after the point, even if they are zeros.

    The server refuses `12:00:00Z` where it wants microseconds, which is what a plain JSON encoder
    writes once in a million times.

    >>> micro_time(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000000Z'
    """
    plain = moment.astimezone(UTC).replace(tzinfo=None)
    return plain.isoformat(timespec="microseconds") + "Z"
