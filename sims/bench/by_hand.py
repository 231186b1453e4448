"""The reference game's kernel beside the same in C, by hand and in vectors, where the machine has a compiler."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._precision import exact_scope
from mipsim.engine.route import build_sampler
from mipsim.engine.samplers.fixed_point import LinearTerms
from mipsim.engine.samplers.table import TableSampler
from sims.bench.contest import Contest, Way
from sims.bench.reference_game import counter, playing
from sims.studies import STUDIES, D, N

GENERATORS = ("sfc32", "Threefry", "SplitMix64")
"""Of the C program, by its numbers for them: a generator with a state, JAX's own, and mipsim's."""


def compiled_by_hand() -> Callable[..., None] | None:
    """The function of `reference_kernel.c`, or None where there is no compiler that knows vectors.
    >>> compiled_by_hand() is None or callable(compiled_by_hand())
    True
    """
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernel.so"
        source = Path(__file__).parent / "reference_kernel.c"
        flags = ("-O3", "-march=native", "-Wno-psabi", "-shared", "-fPIC")
        command = [compiler, *flags, str(source), "-o", str(library)]
        if subprocess.run(command, capture_output=True).returncode:
            return None
        play = ctypes.CDLL(str(library)).play
    play.restype = None
    play.argtypes = [
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_uint64,
        ctypes.c_long,
        ctypes.c_void_p,
    ]
    return play


def linear_table() -> tuple[np.ndarray, np.ndarray, int]:
    """Of the reference game without its target: the alias rows (d, C), the terms of another success (d,), log2 C."""
    with exact_scope():
        sampler: Any = build_sampler(*STUDIES["azize_fig2_easy"].build(), "sufficient")
    assert isinstance(sampler, TableSampler)
    assert isinstance(sampler.terms, LinearTerms)
    columns = 1 << sampler.bits
    rows = np.asarray(sampler.counts).reshape(-1, 2, columns)[:D, 0]
    return np.ascontiguousarray(rows), np.asarray(sampler.terms.steps)[:D].copy(), sampler.bits


def kernel_by_hand(quick: bool) -> Contest:
    """The table kernel against C programs that sum the same terms; of these, the scores are not even counted."""
    fast = counter(*STUDIES["azize_fig2_easy"].build(), "sufficient")
    batch = 2 * fast.span * (1 if quick else 4)
    ours = Way("mipsim table kernel", playing(fast, 1), batch)
    title, play = f"reference kernel by hand (n = {N}, d = {D})", compiled_by_hand()
    if play is None:
        print("no C compiler that knows vectors here: no ratio to a kernel in C")
        return Contest(title, "games", [ours])
    rows, steps, bits = linear_table()

    def by_hand(which: int) -> Callable[[int], int]:
        def work(games: int) -> int:
            sums = np.empty(-(-games // 1024) * 1024, np.int32)
            play(which, rows.ctypes.data, steps.ctypes.data, D, bits, 7, sums.size, sums.ctypes.data)
            return sums.size

        return work

    names = (*GENERATORS, "no generator")
    ways = [Way(f"C, {name}", by_hand(i), batch, library="numpy") for i, name in enumerate(names)]
    return Contest(title, "games", [*ways, ours])
