"""Large jobspecs are read in a thread, and so are short ones that name many nodes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from fluxnetes.jobspec.constraint import MAX_NAMES, Hostlist
from fluxnetes.jobspec.model import Jobspec
from fluxnetes.service.errors import Invalid
from fluxnetes.service.requests import jobspec_cache
from fluxnetes.service.requests.jobspec_cache import read_jobspec


def naming(hosts: str) -> str:
    return json.dumps(
        {
            "version": 1,
            "resources": [{"type": "node", "count": 1, "exclusive": True}],
            "tasks": [],
            "attributes": {"system": {"constraints": {"hostlist": [hosts]}}},
        }
    )


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Of each jobspec that was read whole, whether in a thread of its own."""
    read: list[bool] = []

    def noted(value: Jobspec, path: str) -> None:
        read.append(threading.current_thread() is not threading.main_thread())

    monkeypatch.setattr(jobspec_cache, "check_bounds", noted)
    caches = (jobspec_cache._small, jobspec_cache._large)
    for cache in caches:
        cache.cache_clear()
    yield read
    for cache in caches:
        cache.cache_clear()


async def test_a_short_text_that_names_many_nodes_is_not_read_in_the_event_loop(
    read: list[bool],
) -> None:
    few, many = naming("n[0-9]"), naming(f"n[1-{MAX_NAMES}]")
    for text, count in ((few, 10), (many, MAX_NAMES)) * 2:
        constraint = (await read_jobspec(text)).constraint
        assert isinstance(constraint, Hostlist)
        assert len(constraint.hosts) == count
    assert read == [False, True], "each once, the second one in a thread"


@pytest.mark.usefixtures("read")
async def test_a_text_that_names_too_many_nodes_is_refused_with_the_limit() -> None:
    with pytest.raises(Invalid, match=f"names more than {MAX_NAMES} hosts"):
        await read_jobspec(naming("n[0-99999999]"))
