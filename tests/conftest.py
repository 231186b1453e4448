"""Settings of the whole test run, made before anything imports JAX or matplotlib."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The tests are the same on every machine: an accelerator is for runs that ask for it.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")

# A shell that starts the tests in the background has them, and all their children, ignore Ctrl-C; some tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Property tests draw the same examples each time, and no clock fails one on a slow machine.
settings.register_profile(
    "tests", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")


@pytest.fixture
def no_screen() -> Iterator[None]:
    """Figures are drawn without a window, and closed."""
    from matplotlib import get_backend, pyplot

    backend = get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(backend)
