"""What can go wrong with the store.

    StoreError
      StoreUnavailable    the server is not there, or not yet: wait and try again
      StoreRefused        the server is there and says no: somebody must change something
      EmbeddedServerFailed our own server does not start; its log says why
      NewerDatabase       a newer Fluxnetes has been here: run that one
      UnreadableStore     what another version wrote means nothing to this one: run that one
      LeaseLost           somebody else is the writer now: stop, or wait for the lease

Only `StoreUnavailable` goes away by itself. Who works through `Database.attempt` never sees it.
"""

from __future__ import annotations


class StoreError(Exception):
    """Anything that the store cannot do."""


class StoreUnavailable(StoreError):  # noqa: N818 - reads better where it is raised and caught
    """The server cannot be reached, or takes nobody in right now."""


class StoreRefused(StoreError):  # noqa: N818
    """The server refuses us, or is one that we cannot use."""


class EmbeddedServerFailed(StoreError):  # noqa: N818
    """The embedded server could not be set up or started."""


class NewerDatabase(StoreError):  # noqa: N818
    """The tables were made by a newer version than this one."""


class UnreadableStore(StoreError):  # noqa: N818
    """The tables are ours, but a value in them is not one that this version knows."""


class LeaseLost(StoreError):  # noqa: N818
    """The fencing number is not the current one: another writer has taken over."""
