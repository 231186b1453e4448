"""The scope in which games run, for test modules that import this fixture."""

from collections.abc import Iterator

import pytest

from mipsim._precision import exact_scope


@pytest.fixture(autouse=True)
def in_exact_scope() -> Iterator[None]:
    """Float64, in users' functions too, and the same meaning of random keys, for every test of the importing module."""
    with exact_scope("float64"):
        yield
