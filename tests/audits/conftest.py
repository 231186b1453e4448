"""What the tests of audits share."""

import sys

import pytest


@pytest.fixture
def fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the draws behind calibrated bounds: proven all the same, and a little looser."""
    monkeypatch.setattr(sys.modules["mipsim.bands.family_bound"], "_LEAST_DRAWS", 0)
