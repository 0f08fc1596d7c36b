"""An AsyncClient that is waited for, call by call: what is promised of one is promised of both.

All of them live in one event loop, in a thread of its own, as those of a program would.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import cache
from typing import Any, TypeVar, cast

from fluxnetes.client import AsyncClient, Client

T = TypeVar("T")


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def _wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


class Awaited:
    """Has the methods of an AsyncClient, without the need to await."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        async def make() -> AsyncClient:
            return AsyncClient(*arguments, **options)

        self._client = _wait(make())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def called(*arguments: Any, **options: Any) -> Any:
            found = getattr(self._client, name)(*arguments, **options)
            return _each(found) if isinstance(found, AsyncGenerator) else _wait(found)

        return called

    def __enter__(self) -> Awaited:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _each(found: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    async def following() -> T | None:
        return await anext(found, None)

    try:
        while (change := _wait(following())) is not None:
            yield change
    finally:
        _wait(_close(found))


async def _close(found: AsyncGenerator[Any, None]) -> None:
    await found.aclose()


def awaited(*arguments: Any, **options: Any) -> Client:
    return cast(Client, Awaited(*arguments, **options))
