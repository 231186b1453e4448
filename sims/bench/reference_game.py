"""The reference game of Azize & Basu's figure 2, played in every way."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.counting import Counter, on_device, play_range
from mipsim.engine.devices import cores
from mipsim.engine.route import build_sampler
from mipsim.games.base import AbstractMembershipGame
from sims.bench.contest import Contest, Way, in_turn
from sims.bench.plain_jax import jax_rows
from sims.studies import STUDIES, D, N, reference_data

_EDGES = np.linspace(-20.0, 20.0, 1024)


def reference_game(quick: bool) -> Contest:
    """Games of n = 1000 records of d = 5000 Bernoulli coordinates with the covariance score."""
    game, attack = STUDIES["azize_fig2_easy"].build()
    data = reference_data()
    weights = (data.easiest_target() - data.mean) / data.variance
    w, p = jnp.asarray(weights, jnp.float32), jnp.asarray(data.p, jnp.float32)
    rng = np.random.default_rng(0)
    few, many = (4, 100) if quick else (8, 500)

    def numpy_rows() -> float:
        return float(weights @ (rng.random((N, D)) < data.p).mean(0))

    def numpy_sums(games: int) -> int:
        _ = (rng.binomial(N, data.p, size=(games, D)) / N) @ weights
        return games

    fast = counter(game, attack, "sufficient")
    batch = 2 * fast.span * (1 if quick else 4)
    return Contest(
        f"reference game (n = {N}, d = {D})",
        "games",
        [
            Way("NumPy literal rows", in_turn(numpy_rows), few, library="numpy"),
            Way("NumPy binomial sums", numpy_sums, many, library="numpy"),
            jax_rows(lambda key: w @ jax.random.bernoulli(key, p, (N, D)).mean(axis=0), few),
            jax_rows(lambda key: w @ jax.random.binomial(key, N, p) / N, many, "JAX binomial sums"),
            Way("mipsim literal, single core", playing(counter(game, attack, "literal"), 1), few),
            Way("mipsim table kernel, single core", playing(fast, 1), batch),
        ],
    )


def random_target_game(quick: bool) -> Contest:
    """Games of the same data whose target is a random record of theirs or a fresh record, with the scalar product."""
    data = reference_data()
    game, attack = mi.RandomTarget(mi.EmpiricalMean(), data, n=N), mi.ScalarProduct(data.mean)
    p = jnp.asarray(data.p, jnp.float32)
    rng = np.random.default_rng(0)
    few, many = (4, 100) if quick else (8, 500)

    def keyed(key: jax.Array) -> jax.Array:
        key_rows, key_place = jax.random.split(key)
        rows = jax.random.bernoulli(key_rows, p, (N, D))
        return (rows[jax.random.randint(key_place, (), 0, N)] - p) @ rows.mean(axis=0)

    def numpy_rows() -> float:
        rows = rng.random((N, D)) < data.p
        return float((rows[rng.integers(N)] - data.mean) @ rows.mean(0))

    def numpy_sums(games: int) -> int:
        targets = rng.random((games, D)) < data.p
        sums = targets + rng.binomial(N - 1, data.p, size=(games, D))
        _ = np.einsum("gd,gd->g", targets - data.mean, sums / N)
        return games

    fast = counter(game, attack, "sufficient")
    batch = 2 * fast.span * (1 if quick else 4)
    return Contest(
        f"random target (n = {N}, d = {D})",
        "games",
        [
            Way("NumPy literal rows", in_turn(numpy_rows), few, library="numpy"),
            Way("NumPy binomial sums", numpy_sums, many, library="numpy"),
            jax_rows(keyed, few),
            Way("mipsim literal, single core", playing(counter(game, attack, "literal"), 1), few),
            Way("mipsim random table, single core", playing(fast, 1), batch),
            Way(f"mipsim random table, {cores()} threads", playing(fast, cores()), 2 * batch, all_cores=True),
        ],
    )


def cores_game(quick: bool) -> Contest:
    """The same game on a single core and on all."""
    fast = counter(*STUDIES["azize_fig2_easy"].build(), "sufficient")
    batch = 2 * fast.span * (2 if quick else 8)
    return Contest(
        "reference game, cores",
        "games",
        [
            Way("table kernel, single core", playing(fast, 1), batch),
            Way(f"table kernel, {cores()} threads", playing(fast, cores()), batch, all_cores=True),
        ],
    )


def devices_game(quick: bool) -> Contest:
    """The same game on each device of this process, in turn."""
    ways = []
    for device in jax.local_devices():
        with jax.default_device(device):
            fast = counter(*STUDIES["azize_fig2_easy"].build(), "sufficient")
        batch = 2 * fast.span * (2 if quick else 8)
        ways.append(
            Way(
                f"{device.platform}:{device.id} ({device.device_kind})",
                partial(_on, device, fast),
                batch,
                all_cores=True,
            )
        )
    return Contest("reference game, each device", "games", ways)


def _on(device: Any, fast: Counter, games: int) -> int:
    with jax.default_device(device):
        return playing(fast, 1)(games)


def counter(game: AbstractMembershipGame, attack: mi.AbstractAttack, fidelity: str) -> Counter:
    """A game made ready to be counted on fixed edges."""
    with exact_scope():
        return Counter(on_device(build_sampler(game, attack, fidelity)), [_EDGES], 0)


def playing(count: Counter, threads: int) -> Callable[[int], int]:
    """The work of a way that plays through the engine; both worlds count."""

    def work(games: int) -> int:
        each = -(-games // 2)
        for _ in play_range(count, 0, each, max(count.span, each // threads), threads):
            pass
        return 2 * each

    return work


def whole_play(games: int) -> float:
    """Seconds of a whole `mi.play` of the reference game: tables, pilot, compilation and games."""
    game, attack = STUDIES["azize_fig2_easy"].build()
    begun = time.perf_counter()
    mi.play(game, attack, games, progress=False)
    return time.perf_counter() - begun
