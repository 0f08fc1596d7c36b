"""The errors of the store.

    StoreError
      StoreUnavailable      the server is not available: retry
      StoreRefused          the server refuses the connection or is not usable: change the settings
      EmbeddedServerFailed  the embedded server does not start; its log says why
      NewerDatabase         the schema is of a newer version of Fluxnetes: run that one
      UnreadableStore       a value of another version is unknown to this one: run that one
      ValueRefused          the database cannot hold a value: leave out what the value belongs to
      LeaseLost             another writer holds the lease: stop, or wait for the lease

Only `StoreUnavailable` is temporary. Callers of `Database.attempt` never see it.
"""

from __future__ import annotations


class StoreError(Exception):
    """Any error of the store."""


class StoreUnavailable(StoreError):  # noqa: N818 - reads better where it is raised and caught
    """The server cannot be reached, or accepts no connections at the moment."""


class StoreRefused(StoreError):  # noqa: N818
    """The server refuses the connection, or is not usable."""


class EmbeddedServerFailed(StoreError):  # noqa: N818
    """The embedded server could not be set up or started."""


class NewerDatabase(StoreError):  # noqa: N818
    """The tables were created by a newer version than this one."""


class UnreadableStore(StoreError):  # noqa: N818
    """A value in the tables is unknown to this version."""


class ValueRefused(StoreError):  # noqa: N818
    """The database cannot hold a value, so nothing of its transaction was written.

    Callers check values before (`queue.input_limits`); this is what the check does not know of.
    """


class LeaseLost(StoreError):  # noqa: N818
    """The fencing number is not the current one: another writer has taken over."""
