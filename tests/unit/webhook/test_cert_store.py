"""Certificates that are kept in a folder."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from fluxnetes.webhook.cert_store import FolderCertStore, StoredContents


def test_what_was_written_is_read_and_for_its_owner_alone(tmp_path: Path) -> None:
    async def check() -> None:
        store = FolderCertStore(tmp_path / "new")
        nothing = await store.read()
        assert nothing == StoredContents({})
        assert await store.write({"a": b"b"}, nothing)
        assert (await store.read()).contents == {"a": b"b"}

    asyncio.run(check())
    file = tmp_path / "new" / "webhook.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_of_many_who_write_at_once_one_wins(tmp_path: Path) -> None:
    async def check() -> None:
        keepers = [FolderCertStore(tmp_path) for _ in range(20)]
        for _ in range(3):
            read = await asyncio.gather(*(store.read() for store in keepers))
            won = await asyncio.gather(
                *(
                    store.write({"who": str(number).encode(), "over": kept.version.encode()}, kept)
                    for number, (store, kept) in enumerate(zip(keepers, read, strict=True))
                )
            )
            assert won.count(True) == 1
            winner = str(won.index(True)).encode()
            assert (await keepers[0].read()).contents["who"] == winner

    asyncio.run(check())


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"a": 1}'])
def test_a_file_that_is_not_ours_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "webhook.json").write_bytes(content)

    async def check() -> None:
        store = FolderCertStore(tmp_path)
        found = await store.read()
        assert not found.contents
        assert await store.write({"a": b"b"}, found)
        assert (await store.read()).contents == {"a": b"b"}

    asyncio.run(check())
