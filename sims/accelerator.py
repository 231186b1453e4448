"""`python -m sims accelerator`: checks every sampler on an accelerator against the CPU and measures speed beside its floor.

Each result is written as a JSON line as soon as it is known, so that a run that is cut short keeps what it has.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.attacks.function import as_attack
from mipsim.engine.counting import Counter, on_device, play_range
from mipsim.engine.devices import Device
from mipsim.engine.memory import BlockTooLargeError
from mipsim.engine.random.counter import GameDraws, normal_pair, run_draws
from mipsim.engine.random.splitmix import splitmix64
from mipsim.engine.route import build_sampler
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.clipped import gaussian_rows
from sims.bench.contest import on_cores
from sims.every_sampler import every_sampler
from sims.studies import STUDIES, D, N, reference_data

FILE = "accelerator.jsonl"
"""Where the results go, in the folder that the user names."""
_EDGES = np.linspace(-20.0, 20.0, 1024)
_GAMES = 2_000  # of each world in the comparison with the CPU
_THREADS = 8  # compilers at work side by side
_SHORTEST = 0.3  # seconds of a timed call


class NoAcceleratorError(ValueError):
    """JAX sees no accelerator."""

    def __init__(self) -> None:
        result = ", ".join(sorted({device.platform for device in jax.devices()}))
        super().__init__(
            f"JAX finds no accelerator, only {result}; install JAX for it, or use --dry-run for a short run on the CPU"
        )


class Log:
    """Writes results to a file and to the screen, and knows how much time is left.
    `folder`: made if it is missing; the file in it is replaced; `minutes`: of the whole run. Raises OSError if the file
    cannot be written.

    >>> import tempfile
    >>> log = Log(Path(tempfile.mkdtemp()), 1.0)
    >>> log("copy", rate=2.0)
    copy: rate 2
    >>> log.left > 50.0
    True
    """

    def __init__(self, folder: Path, minutes: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._path.write_text("")
        self._end = time.monotonic() + 60.0 * minutes

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._end - time.monotonic()

    def __call__(self, part: str, **facts: Any) -> None:
        """Record a result."""
        with self._path.open("a") as file:
            file.write(json.dumps({"part": part, **facts}) + "\n")
        words = (
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in facts.items()
        )
        print(f"{part}: {', '.join(words)}", flush=True)


def measure_accelerator(folder: Path, minutes: float = 8.0, dry_run: bool = False) -> None:
    """Run all parts in order until the time is over: ceilings, bits, speeds, marked tests, and a long game.
    `folder`: where `accelerator.jsonl` goes; `minutes`: of the whole run; a part that has begun is ended; `dry_run`: play
    on the CPU, with few games, to see that everything works. Raises NoAcceleratorError if there is no accelerator and
    `dry_run` is False; OSError if the file cannot be written.
    """
    device = jax.devices()[0]
    if device.platform == "cpu" and not dry_run:
        raise NoAcceleratorError
    log = Log(folder, minutes)
    _versions(log, device)
    rates = _ceilings(log, small=dry_run)
    _same_bits(log, device, small=dry_run)
    _speeds(log, device, rates, small=dry_run)
    if log.left > 0.0:
        _marked_tests(log, device, dry_run)
    if log.left > 0.0:
        _long_game(log, 100_000 if dry_run else 10**9, dry_run)


def _versions(log: Log, device: Device) -> None:
    facts = {
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": metadata.version("jaxlib"),
    }
    facts |= {"numpy": np.__version__, "mipsim": mi.__version__, "cores": os.cpu_count()}
    limit = (device.memory_stats() or {}).get("bytes_limit") if device.platform != "cpu" else None
    log("versions", device=f"{device.platform} ({device.device_kind})", bytes_limit=limit, **facts)


def _seconds(work: Callable[[], Any], shortest: float = _SHORTEST) -> float:
    """Seconds of a call, the best of three series that each last long enough to be timed."""
    jax.block_until_ready(work())
    calls, best, result = 1, float("inf"), None
    for _ in range(3):
        while True:
            begun = time.perf_counter()
            for _ in range(calls):
                result = work()
            jax.block_until_ready(result)
            took = time.perf_counter() - begun
            if took >= shortest / 3:
                break
            calls = max(2 * calls, int(calls * shortest / 3 / max(took, 1e-9)))
        best = min(best, took / calls)
    return best


def _ceilings(log: Log, small: bool) -> dict[str, float]:
    """How much of each resource the device gives in a second: what a game needs of it, divided by this, is a floor."""
    size = 2**20 if small else 2**28
    side = 512 if small else 8192
    games, draws = (2**10, 2**6) if small else (2**18, 2**10)

    def words(start: jax.Array) -> jax.Array:
        index = jnp.arange(draws, dtype=jnp.uint64)[:, None]
        return jnp.sum(splitmix64(start[None, :], index) >> jnp.uint64(40), axis=0)

    def sampled(start: jax.Array) -> jax.Array:
        index = jnp.arange(0, 2 * draws, 2, dtype=jnp.uint64)[:, None]
        first, second = (splitmix64(start[None, :], index + jnp.uint64(i)) for i in (0, 1))
        return jnp.sum(sum(normal_pair(first, second)), axis=0)

    def sampled_short(start: jax.Array) -> jax.Array:
        law = gaussian_rows(mi.Gaussian(0.0, 1.0, d=4 * draws))
        assert law is not None
        group = jnp.arange(draws, dtype=jnp.uint32)[:, None]
        return jnp.sum(sum(law.draw(group, start[None, :])), axis=0)

    def looked_up(table: jax.Array, start: jax.Array) -> jax.Array:
        index = jnp.arange(draws, dtype=jnp.uint64)[:, None]
        word = splitmix64(start[None, :], index).astype(jnp.uint32)
        place = (index.astype(jnp.uint32) % jnp.uint32(5000)) * jnp.uint32(256) + (word >> jnp.uint32(24))
        return jnp.sum(table.at[place].get(mode="promise_in_bounds"), axis=0)

    with exact_scope():
        source = jnp.arange(size, dtype=jnp.float32)
        left, start = jnp.ones((side, side), jnp.bfloat16), jnp.arange(games, dtype=jnp.uint64)
        table = jnp.arange(5000 * 256, dtype=jnp.uint32)
        copy, product = jax.jit(lambda x: x + 1.0), jax.jit(jnp.matmul)
        rates = {
            "bytes": 8.0 * size / _seconds(lambda: copy(source)),
            "flops": 2.0 * side**3 / _seconds(lambda: product(left, left)),
            "words": games * draws / _seconds(partial(jax.jit(words), start)),
            "normals": 2.0 * games * draws / _seconds(partial(jax.jit(sampled), start)),
            "short_normals": 4.0 * games * draws / _seconds(partial(jax.jit(sampled_short), start)),
            "lookups": games * draws / _seconds(partial(jax.jit(looked_up), table, start)),
        }
    log(
        "ceilings",
        unit="a second: bytes read and written, bfloat16 operations, 64-bit words, float64 and float32 normals, look-ups",
        **rates,
    )
    return rates


def _same_bits(log: Log, device: Device, small: bool) -> None:
    """Play a small run of every sampler on the CPU and on the device, and compare counts and scores bit for bit.

    A small run looks at every sixth sampler.
    """
    try:
        cpu = jax.devices("cpu")[0]
    except RuntimeError:
        log("bits", skipped="this process has no CPU backend: set JAX_PLATFORMS=cuda,cpu")
        return
    edges = np.linspace(-2.0, 2.0, 17)

    def both(item: tuple[str, AbstractSampler]) -> tuple[str, dict[str, Any]]:
        name, sampler = item
        begun = time.perf_counter()
        try:
            with exact_scope():
                placed = on_device(sampler)
                shape = eqx.filter_eval_shape(lambda s: s.scores(_draws(s.block)), placed).shape
                all_edges = [edges] * (shape[1] if len(shape) > 1 else 1)
                # the same of both, so that the scores of all games come back
                blocks = -(-_GAMES // sampler.block)
                counters = [
                    Counter(placed, all_edges, 7, devices=[where], blocks=blocks) for where in (cpu, device)
                ]
            (counts, scores), (own_counts, own_scores) = (counter(0, _GAMES) for counter in counters)
        except Exception as error:
            return name, {"failed": f"{type(error).__name__}: {str(error).splitlines()[0][:300]}"}
        finite = np.isfinite(scores) & np.isfinite(own_scores)
        apart = np.abs(np.subtract(scores, own_scores, where=finite, out=np.zeros(scores.shape)))
        return name, {
            "sampler": sampler.name,
            "equal_counts": bool(np.array_equal(counts, own_counts)),
            "moved_games": int(np.abs(counts - own_counts).sum() // 2),
            "equal_scores": bool(np.array_equal(scores, own_scores, equal_nan=True)),
            "share_of_scores_that_differ": float(np.mean(scores != own_scores)),
            "largest_difference": float(apart.max(initial=0.0)),
            "seconds": time.perf_counter() - begun,
        }

    with ThreadPoolExecutor(_THREADS) as pool:
        for name, facts in pool.map(both, list(every_sampler().items())[:: 6 if small else 1]):
            log("bits", name=name, **facts)


def _draws(block: int) -> GameDraws:
    return run_draws(7, 0)._replace(games=jnp.arange(block, dtype=jnp.uint64))


@dataclass(frozen=True)
class Case:
    """A game whose speed is measured."""

    name: str  # for people
    build: Callable[[], tuple[mi.AbstractGame, mi.AbstractAttack]]  # makes the game and its attack
    fidelity: str  # as `play` takes it
    # what a game needs of each resource of `_ceilings`; the largest share is its floor
    needs: Mapping[str, float]
    # how many blocks are sampled at once, in turn; None = as many as `play` draws
    scan: tuple[int | None, ...]


def cases(small: bool = False) -> list[Case]:
    """The measured games.
    `small`: of few records and coordinates, for a run on a CPU.

    >>> [case.name for case in cases()][:2]
    ['reference game', 'random targets']
    """
    shrink = 50 if small else 1
    d, n = D // shrink, N // (10 if small else 1)
    own_n, own_d = (10, 50) if small else (100, 500)
    rng = np.random.default_rng(0)
    p = reference_data().p[:d]
    zeros = np.zeros(own_d)

    def reference() -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        if not small:
            return STUDIES["azize_fig2_easy"].build()
        data = mi.Bernoulli(p)
        game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=data.easiest_target())
        return game, mi.CovarianceScore(data, n=n)

    def random_targets() -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        data = mi.Bernoulli(p)
        return mi.RandomTarget(mi.EmpiricalMean(), data, n=n), mi.ScalarProduct(data.mean)

    def poisson() -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        data = mi.Bernoulli(p[:own_d])
        mechanism = mi.PoissonSubsampled(mi.EmpiricalMean(), 0.1)
        return mi.FixedTarget(mechanism, data, n=n, target=np.ones(own_d)), mi.ScalarProduct(zeros)

    def literal(data: mi.AbstractDistribution) -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        def mean(key: jax.Array, records: jax.Array) -> jax.Array:
            return jnp.mean(records, axis=0)

        return mi.FixedTarget(mean, data, n=own_n, target=np.ones(own_d)), mi.ScalarProduct(zeros)

    def clipped() -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        data = mi.Gaussian(np.zeros(n), np.linspace(0.5, 2.0, n))
        step = mi.SGDStep(clip=float(np.sqrt(n)), noise_multiplier=0.1)
        return mi.FixedTarget(step, data, n=n, target=np.ones(n)), mi.ScalarProduct(np.zeros(n))

    def noisy_law() -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        mechanism = mi.LaplaceNoise(mi.EmpiricalMean(), 0.1)
        data = mi.Gaussian(0.0, 1.0, d=own_d)
        return mi.FixedTarget(mechanism, data, n=n, target=np.ones(own_d)), mi.ScalarProduct(zeros)

    def columns() -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        data = mi.Laplace(0.0, 1.0, d=own_d)
        game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=np.ones(own_d))
        return game, as_attack(lambda target, output: jnp.max(jnp.abs(output - target)))

    def gradients() -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        records = rng.normal(size=(1797 // shrink, 650 // shrink))
        game = mi.FixedTarget(mi.EmpiricalMean(), mi.Empirical(records), n=n // 2, target=records[0])
        return game, mi.ScalarProduct(records.mean(axis=0))

    def projected() -> tuple[mi.AbstractGame, mi.AbstractAttack]:
        data = mi.Gaussian(np.zeros(d), np.ones(d))
        return mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=np.ones(d)), mi.CovarianceScore(data, n=n)

    numbers = float(own_n * own_d)
    scan = (None,) if small else (1, 16, None)
    return [
        Case("reference game", reference, "auto", {"words": d / 2, "lookups": d}, scan),
        Case(
            "random targets",
            random_targets,
            "auto",
            {"words": d / 2, "lookups": d},
            scan,
        ),
        Case("Poisson samples", poisson, "auto", {"words": own_d, "lookups": own_d}, scan),
        Case(
            "Gaussian literal records",
            lambda: literal(mi.Gaussian(0.0, 1.0, d=own_d)),
            "literal",
            {"normals": numbers},
            scan,
        ),
        Case(
            "Bernoulli literal records",
            lambda: literal(mi.Bernoulli(0.3, d=own_d)),
            "literal",
            {"words": numbers / 2},
            scan,
        ),
        Case("clipped step", clipped, "auto", {"short_normals": float(n * n)}, scan),
        Case("outputs by their distribution", noisy_law, "auto", {"normals": own_d}, scan),
        Case("column sums", columns, "auto", {"words": own_d, "lookups": 4.0 * own_d}, scan),
        Case("gradients", gradients, "auto", {"words": n / 4, "lookups": n / 2}, scan),
        Case("projected games", projected, "auto", {"normals": 1.0}, scan),
    ]


def _speeds(log: Log, device: Device, rates: Mapping[str, float], small: bool) -> None:
    """Time each case by the number of blocks at once; code is compiled side by side before, games are played alone."""
    chosen = cases(small)[:: 4 if small else 1]
    # Everything is compiled before anything is timed: compilers would take the cores that send the games.
    points = [(case, blocks) for case in chosen for blocks in case.scan]
    with ThreadPoolExecutor(_THREADS) as pool:
        results = list(pool.map(lambda point: _ready(point[0], point[1], device), points))
    for (case, blocks), result in zip(points, results, strict=True):
        if log.left < 0.0:
            break
        if isinstance(result, str):
            log("speed", name=case.name, at_once=blocks or "chosen", failed=result)
            continue
        counter, compiled, memory = result
        shares = {resource: need / rates[resource] for resource, need in case.needs.items()}
        decides = max(shares, key=lambda resource: shares[resource])
        speed = _games_a_second(counter, 0.05 if small else 0.5)
        log(
            "speed",
            name=case.name,
            at_once=blocks or "chosen",
            games_at_once=counter.span,
            games_per_second=speed,
            floor=1.0 / shares[decides],
            decided_by=decides,
            share_of_floor=speed * shares[decides],
            compile_seconds=compiled,
            memory=memory,
        )
    if device.platform == "cpu" or log.left < 0.0:
        return
    cpu = jax.devices("cpu")[0]
    with ThreadPoolExecutor(_THREADS) as pool:
        ready = list(pool.map(lambda case: _ready(case, None, cpu), chosen))
    with on_cores(2):
        for case, result in zip(chosen, ready, strict=True):
            if log.left > 0.0 and not isinstance(result, str):
                log(
                    "two CPU cores",
                    name=case.name,
                    games_per_second=_games_a_second(result[0], 0.5, threads=2),
                )


def _ready(case: Case, blocks: int | None, device: Device) -> tuple[Counter, float, int] | str:
    """A compiled counter with its seconds of compilation and its memory, or what went wrong."""
    try:
        with exact_scope():
            sampler = on_device(build_sampler(*case.build(), case.fidelity))
        counter = Counter(sampler, [_EDGES], 0, devices=[device], blocks=blocks)
        begun = time.perf_counter()
        memory = counter.needs()
        counter(0, 0)
        return counter, time.perf_counter() - begun, memory
    except (BlockTooLargeError, jax.errors.JaxRuntimeError) as error:
        return str(error).splitlines()[0][:300]


def _games_a_second(counter: Counter, seconds: float, threads: int = 1) -> float:
    """Games of both worlds in a second of the wall, the best of two runs of about so long."""
    size = counter.span
    counter(0, size)
    begun = time.perf_counter()
    counter(0, size)
    each = size * max(1, round(seconds / (time.perf_counter() - begun)))
    games, best = threads * each, 0.0
    for _ in range(2):
        begun = time.perf_counter()
        for _ in play_range(counter, 0, games, each, threads):
            pass
        best = max(best, 2 * games / (time.perf_counter() - begun))
    return best


def _marked_tests(log: Log, device: Device, dry_run: bool) -> None:
    """Run the tests that need a device, in a process of their own."""
    tests = Path(__file__).parents[1] / "tests" / "engine" / "test_accelerator.py"
    if dry_run or not tests.exists():
        log("tests", skipped="a dry run leaves them to pytest" if dry_run else f"{tests} does not exist")
        return
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "accelerator",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        str(tests),
    ]
    limit = max(30.0, min(log.left, 180.0))
    # The tests play on the CPU unless the variable is set; an empty value lets JAX choose the accelerator.
    where = os.environ | {"JAX_PLATFORMS": os.environ.get("JAX_PLATFORMS", "")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, cwd=tests.parents[2], env=where
        )
    except subprocess.TimeoutExpired:
        log("tests", failed=f"not done after {limit:.0f} s")
        return
    lines = (done.stdout + done.stderr).strip().splitlines()
    log("tests", device=device.platform, status=done.returncode, end=lines[-12:])


def _long_game(log: Log, most: int, small: bool) -> None:
    """Play the reference game end to end, from its tables to its counts, as many games as the time allows."""
    game, attack = cases(small)[0].build()
    begun = time.perf_counter()
    mi.play(game, attack, 1_000, edges=_EDGES, progress=False)
    log("first answer", seconds=time.perf_counter() - begun, games=1_000)
    trial = min(most, 4_000_000)
    begun = time.perf_counter()
    mi.play(game, attack, trial, edges=_EDGES, progress=False)
    took = time.perf_counter() - begun
    log("long game", games=trial, seconds=took, games_per_second=2 * trial / took)
    while (more := min(most, 16 * trial, int(0.7 * max(0.0, log.left) * trial / took))) > 2 * trial:
        trial = more  # short runs are slow to start, so that a longer run tells what can be played in what is left
        begun = time.perf_counter()
        mi.play(game, attack, trial, edges=_EDGES, progress=False)
        took = time.perf_counter() - begun
        log("long game", games=trial, seconds=took, games_per_second=2 * trial / took)
