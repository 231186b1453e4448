"""What the tests of audits share."""

from importlib import import_module

import pytest


@pytest.fixture
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the draws behind calibrated bounds: proven all the same, and a little looser."""
    monkeypatch.setattr(import_module("mipsim.bands.family_bound"), "_FAILURES", 200)
