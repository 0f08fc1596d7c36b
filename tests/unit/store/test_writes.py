"""How changes become statements."""

from __future__ import annotations

import pytest

from fluxnetes.store import writes
from fluxnetes.store.codec.rows import submission_row
from fluxnetes.store.write_cache import WriteCache
from tests.integration.store.records import a_job, changes


def test_long_requests_are_sent_in_several_statements_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A message of a gigabyte would make Postgres close the connection, at every try."""
    size = len(submission_row(a_job(1).submission)[1])
    monkeypatch.setattr(writes, "_LONGEST_MESSAGE", 2 * size)
    batches = writes.encode(changes(*(a_job(number) for number in range(1, 8))), WriteCache())
    sent = [batch.columns[0] for batch in batches if batch.statement == "submissions"]
    assert sent == [(1, 2, 3), (4, 5, 6), (7,)]
