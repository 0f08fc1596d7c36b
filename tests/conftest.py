"""What every test relies on: coroutines run, SIGINT works, and examples stay the same."""

from __future__ import annotations

import asyncio
import inspect
import signal

import pytest
from hypothesis import settings
from xdist.remote import Producer

from tests.property.profile import examples
from tests.schedule import LaneScheduling, place_in_line

settings.register_profile("fluxnetes", examples(100))
settings.load_profile("fluxnetes")


def pytest_configure() -> None:
    """Restore the default handling of SIGINT, for this process and all that it starts.

    A shell starts what runs in the background with SIGINT ignored, and children inherit that: a
    test that interrupts one of them would wait forever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In one of several processes, put the lanes in line."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place_in_line(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LaneScheduling | None:
    """With `-n N`, give whole lanes to the processes; `--dist` still chooses another way."""
    if config.getvalue("dist") != "load":
        return None
    config.option.loadscopereorder = False
    return LaneScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
