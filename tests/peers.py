"""Other libraries that answer the same questions."""

from typing import Any

import pytest


def peer(module: str) -> Any:
    """A module of a peer library; the test is skipped where it is not installed."""
    return pytest.importorskip(
        module, reason="the `dev` group installs this peer library where it has a version for this Python"
    )
