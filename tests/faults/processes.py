"""Signals at random moments, closed streams and settings of JAX's, each in a process of its own."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import mipsim as mi
from tests.faults.campaigns import Figures, refusal

ROOT = Path(__file__).parents[2]
STUDY = "azize_fig2_easy"
COMMAND = (sys.executable, "-m", "sims", "run", STUDY)
PATIENCE = 600.0
"""Seconds after which a process has gone on for ever: a run of 10^12 games does not end by itself."""
DIGEST = "from tests.faults.same_counts import digest; print(digest())"
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}

SETTINGS = {
    **dict.fromkeys((
        "JAX_ENABLE_X64", "JAX_DISABLE_JIT", "JAX_DEBUG_NANS", "JAX_DEBUG_INFS", "JAX_ENABLE_CHECKS", "JAX_DEBUG_KEY_REUSE",
        "JAX_DISABLE_MOST_OPTIMIZATIONS", "OMP_NUM_THREADS",
    ), "1"),
    **dict.fromkeys(("JAX_THREEFRY_PARTITIONABLE", "JAX_SOFTMAX_CUSTOM_JVP"), "0"),
    "JAX_NUMPY_DTYPE_PROMOTION": "strict", "JAX_NUMPY_RANK_PROMOTION": "raise", "JAX_RANDOM_SEED_OFFSET": "5", "JAX_TRANSFER_GUARD": "disallow",
    "JAX_DEFAULT_PRNG_IMPL": "rbg", "JAX_DEFAULT_MATMUL_PRECISION": "bfloat16", "JAX_LEGACY_PRNG_KEY": "error",
    "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "7", "PYTHONOPTIMIZE": "2",
}  # fmt: skip
"""What a user may have set, none of which may change a count."""


def signals(folder: Path, times: int, seed: int = 0, longest: float = 5.0) -> Figures:
    """Ctrl-C, SIGTERM and SIGHUP at random moments, most of them while JAX is imported or the first kernel compiled.

    Until Python reads the first line of the command, a signal is the interpreter's.
    """
    held = "the process ends by the signal, status 130, 143 or 129, stored counts sound"
    result = Figures("signals in the first seconds", held)
    rng = np.random.default_rng(seed)
    for i in range(times):
        kind = list(STATUS)[i % len(STATUS)]
        out = folder / str(i)
        command, null = [*COMMAND, "--games", "1000000000000", "--out", str(out)], subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=ROOT, stdout=null, stderr=subprocess.PIPE, text=True)
        begun = time.monotonic()
        while not listens(process.pid) and process.poll() is None and time.monotonic() < begun + PATIENCE:
            time.sleep(0.005)
        delay = float(rng.uniform(0.0, longest))
        time.sleep(delay)
        process.send_signal(kind)
        try:
            _, text = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            text = process.communicate()[1] + "it went on"
        stored = [refusal(mi.Histogram.load, path) for path in out.glob("*.npz")]
        ended = (
            process.returncode == STATUS[kind] and text.count("\n") == 1 and text.startswith("interrupted")
        )
        # A message names what is stored where there is something, and no folder that does not exist.
        report = str(out) not in text or bool(stored)
        what = f"status {process.returncode}, {text[-200:]!r}, {stored}"
        sound = ended and report and not any(what is not None for what in stored)
        result.check(sound, f"{kind.name} after {delay:.3f} s: {what}")
    return result


def listens(pid: int) -> bool:
    """Whether a process handles, or was set to ignore, all signals that end it, by the masks that Linux shows."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigCgt:", "SigIgn:"))]
    return all(any(mask >> (kind - 1) & 1 for mask in masks) for kind in STATUS)


CLOSED = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2> >(exec 0<&-)")


def closed_streams(folder: Path, ways: tuple[str, ...] = CLOSED) -> Figures:
    """stdin, stdout or stderr closed before the command begins, or nobody listens to stderr any more."""
    result = Figures("closed streams", "the run ends with status 0 and sound counts")
    for i, closed in enumerate(ways):
        out = folder / str(i)
        line = f"{shlex.join(COMMAND)} --games 2000 --out {out} {closed}"
        ended = subprocess.run(
            ["bash", "-c", line], cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False
        )
        games = [mi.Histogram.load(path).games for path in out.glob("*.npz")]
        what = f"{closed}: {ended.returncode}, {ended.stderr[-200:]!r}"
        result.check(ended.returncode == 0 and games == [2000], what)
    return result


def settings(folder: Path, names: tuple[str, ...] = tuple(SETTINGS)) -> Figures:
    """A setting of JAX's, of XLA's or of Python's in the environment."""
    result = Figures("settings of the environment", "the very same counts on the same thresholds")

    def played(**more: str) -> str:
        how: dict = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": str(ROOT), **more}, "check": False}
        ended = subprocess.run([sys.executable, "-c", DIGEST], capture_output=True, text=True, **how)
        return ended.stdout or ended.stderr[-300:]

    plain = played()
    for name in names:
        other = played(**{name: SETTINGS[name]})
        result.check(len(plain) == 65 and other == plain, f"{name}={SETTINGS[name]}: {other}")
    return result
