"""How fast games are played, against other ways to play them: one process, interleaved, medians."""

import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import jax
import numpy as np

import mipsim as mi
from mipsim.engine.counting import Counter, on_device
from mipsim.engine.devices import cores
from mipsim.engine.drive import play_range
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.precision import exact_scope
from sims.studies import STUDIES, D, N, reference_data

LITERAL = "NumPy literal rows"


@dataclass(frozen=True)
class Timing:
    """One way to play, timed.

    Attributes:
        name: the way.
        games_per_second: median over the repeats; a game is one release with its score.
        baseline: the way it is compared with.
        ratio: games_per_second over that of the baseline.
        spread: lowest and highest games per second of the repeats.
        device: where it ran.
    """

    name: str
    games_per_second: float
    baseline: str
    ratio: float
    spread: tuple[float, float]
    device: str


def bench(quick: bool = False) -> list[Timing]:
    """Time the reference game (n = 1000, d = 5000, covariance score) played in every way.

    Args:
        quick: fewer games and repeats, about 10 seconds.
    """
    ways = _ways(quick)
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for way, _ in ways.values():
        way(None)  # compile and warm up
    for _ in range(3 if quick else 7):
        for name, (way, games) in ways.items():  # interleaved, so that a slow spell of the machine hits all
            begun = time.perf_counter()
            played = way(games)
            speeds[name].append(played / (time.perf_counter() - begun))
    base = statistics.median(speeds[LITERAL])
    return [
        Timing(
            name, statistics.median(s), LITERAL, statistics.median(s) / base, (min(s), max(s)), _device(name)
        )
        for name, s in speeds.items()
    ]


def report(timings: list[Timing], play_seconds: tuple[int, float] | None, file: str | None) -> None:
    """Print the timings, and write them to a JSON file if one is named."""
    width = max(len(t.name) for t in timings)
    print(f"reference game: n = {N}, d = {D}, Bernoulli, covariance score; ratio per game to {LITERAL}")
    for t in timings:
        low, high = t.spread
        print(
            f"{t.name:<{width}}  {t.games_per_second:>12,.1f} games/s  ({low:,.1f} to {high:,.1f})"
            f"  {t.ratio:>9,.2f}x  {t.device}"
        )
    if play_seconds is not None:
        games, seconds = play_seconds
        print(f"mi.play, all included: {games:,} games per world in {seconds:.1f} s")
    print(f"peak memory: {peak_memory() / 2**30:.2f} GiB")
    if file is not None:
        Path(file).write_text(json.dumps([asdict(t) for t in timings], indent=1) + "\n")


def whole_play(games: int) -> tuple[int, float]:
    """Seconds of a whole `mi.play` of the reference game: tables, pilot, compilation and games."""
    game, attack = STUDIES["azize_fig2_easy"].build()
    begun = time.perf_counter()
    mi.play(game, attack, games, progress=False)
    return games, time.perf_counter() - begun


def peak_memory() -> int:
    """The most memory this process has held, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


Way = Callable[[int | None], int]


def _ways(quick: bool) -> dict[str, tuple[Way, int]]:
    """Name -> (plays a number of games and returns how many, games per repeat)."""
    game, attack = STUDIES["azize_fig2_easy"].build()
    data = reference_data()
    weights = (data.easiest_target() - data.mean) / data.variance
    rng = np.random.default_rng(0)
    with exact_scope():
        counter = Counter(
            on_device(build_sampler(game, attack, "sufficient")), np.linspace(-20.0, 20.0, 1024), 0
        )
        literal = Counter(
            on_device(build_sampler(game, attack, "literal")), np.linspace(-20.0, 20.0, 1024), 0
        )

    def numpy_rows(games: int | None) -> int:
        for _ in range(games or 1):
            _ = float(weights @ (rng.random((N, D)) < data.p).mean(0))
        return games or 1

    def numpy_sums(games: int | None) -> int:
        _ = (rng.binomial(N, data.p, size=(games or 1, D)) / N) @ weights
        return games or 1

    def engine(count: Counter, threads: int) -> Way:
        def way(games: int | None) -> int:
            each = -(-(games or 2) // 2)
            for _ in play_range(count, 0, each, count.block, max(count.block, each // threads), threads):
                pass
            return 2 * each

        return way

    def jax_rows(games: int | None) -> int:
        _jax_rows(jax.random.key(0), data.p, weights, games or 1).block_until_ready()
        return games or 1

    many, few = cores(), 4 if quick else 8
    block = counter.block
    ways: dict[str, tuple[Way, int]] = {
        LITERAL: (numpy_rows, few),
        "NumPy binomial sums": (numpy_sums, 100 if quick else 500),
        "JAX literal rows, default keys": (jax_rows, few),
        "mipsim literal fidelity, 1 thread": (engine(literal, 1), few),
        "mipsim table kernel, 1 thread": (engine(counter, 1), 2 * block * (1 if quick else 4)),
    }
    if many > 1:
        ways[f"mipsim table kernel, {many} threads"] = (
            engine(counter, many),
            2 * block * many * (1 if quick else 4),
        )
    return ways


def _play_rows(key: jax.Array, p: jax.Array, weights: jax.Array, games: int) -> jax.Array:
    def one(k: jax.Array) -> jax.Array:
        return weights @ jax.random.bernoulli(k, p, (N, D)).mean(0)

    return jax.lax.map(one, jax.random.split(key, games))


_jax_rows = jax.jit(_play_rows, static_argnums=3)


def _device(name: str) -> str:
    if name.startswith("NumPy"):
        return f"cpu, 1 of {os.cpu_count()} cores"
    device = jax.devices()[0]
    return f"{device.platform} ({device.device_kind}), {os.cpu_count()} cores"
