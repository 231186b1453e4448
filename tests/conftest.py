"""Settings of the whole test run, made before anything imports JAX or matplotlib."""

import ctypes
import gc
import importlib
import os
import platform
import shutil
import signal
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The tests are the same on every machine: an accelerator is for runs that ask for it.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")
# The workers share the cores already: threads of matrix products that wait for each other's cores take twice the time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What is compiled is for all workers, the programs that tests start and the next run: in pytest's cache, which may be deleted at any time.
_STORED = Path(__file__).resolve().parents[1] / ".pytest_cache/d"
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    _CPU = Path("/proc/cpuinfo")  # code for another may not run here
    _KINDS = (
        {line for line in _CPU.read_text().splitlines() if line.startswith("flags")} if _CPU.exists() else ()
    )
    _COMPILED = _STORED / f"compiled-{zlib.crc32(' '.join([platform.machine(), *_KINDS]).encode()):08x}"
    if (
        sum(file.stat().st_size for file in _COMPILED.glob("*")) > 2**28
        and "PYTEST_XDIST_WORKER" not in os.environ
    ):
        shutil.rmtree(_COMPILED)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(_COMPILED)
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
# Python's own bytecode as well, where it may not lie beside the sources.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(_STORED / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# A shell that starts the tests in the background has them, and all their children, ignore Ctrl-C, and nohup a hangup; some tests send them.
for _name, _usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    if (_signal := getattr(signal, _name, None)) and signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _usual)

_MOST_MEMORY = 2**30

# Property tests draw the same examples each time, and no clock fails a test on a slow machine.
settings.register_profile(
    "tests", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")


# Random generators at the top of test modules, with the states in which these modules left them.
_GENERATORS: dict[np.random.Generator, Mapping[str, Any]] = {}


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is imported and collected stays: Python's collector of garbage need not look through it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remember the states of all modules' random generators before any test uses them."""
    modules = {module for item in session.items if (module := getattr(item, "module", None)) is not None}
    for value in [value for module in modules for value in vars(module).values()]:
        if isinstance(value, np.random.Generator):
            _GENERATORS.setdefault(value, value.bit_generator.state)


@pytest.fixture(autouse=True)
def the_same_random_numbers() -> None:
    """A test has the same random numbers whichever tests its process ran before."""
    for generator, state in _GENERATORS.items():
        generator.bit_generator.state = state


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A slow case of a test of `system` or `evidence` runs only where `slow` is requested, so that the others end in time."""
    if "slow" not in config.option.markexpr:
        slow = [item for item in items if item.get_closest_marker("slow") is not None]
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]
        config.hook.pytest_deselected(items=slow)


@pytest.fixture(autouse=True)
def sixty_digits() -> Iterator[None]:
    """Every test starts with 60 digits in mpmath, whatever another test in its process has set."""
    with mpmath.workdps(60):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """What a module compiled is let go where a worker has grown large: JAX keeps it for ever; what is needed again is read from the disk.

    A fixture would do so for the modules of this folder alone, and not for the examples of the packages.
    """
    result = yield
    jax = sys.modules.get("jax")
    if jax is not None and nextitem is not None and nextitem.path != item.path and resident() > _MOST_MEMORY:
        jax.clear_caches()
        gc.collect()
        if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
            libc.malloc_trim(0)  # what is free in the heap goes back to the system
    return result


def resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


@pytest.fixture
def no_screen() -> Iterator[None]:
    """Figures are plotted without a window, and closed."""
    from matplotlib import get_backend, pyplot

    backend = get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(backend)


@pytest.fixture
def no_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can import scikit-learn by its name."""
    plain = importlib.import_module

    def absent(name: str, *rest):
        if name.startswith("sklearn"):
            raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
        return plain(name, *rest)

    monkeypatch.setattr(importlib, "import_module", absent)
