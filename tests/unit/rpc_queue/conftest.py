"""Tests that await."""

from tests.unit.rpc.conftest import pytest_pyfunc_call  # noqa: F401 - found by its name
