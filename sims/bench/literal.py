"""A user's own mechanism, played with every record: a mean of records of each kind, against the same in NumPy."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim.engine.devices import cores
from sims.bench.contest import Contest, Way, in_turn
from sims.bench.plain_jax import jax_rows
from sims.bench.reference_game import counter, playing

_SHAPE = (100, 500)  # of the records: a game of 50,000 numbers
_LARGE = (1000, 5000)
_P = 0.3
_VALUES, _SHARES = np.array([-1.0, 0.0, 2.0]), np.array([0.2, 0.3, 0.5])

Rows = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
KeyedRows = Callable[[jax.Array, tuple[int, int]], jax.Array]
_KINDS: dict[str, tuple[Callable[[int], mi.AbstractDistribution], Rows, KeyedRows]] = {
    "Bernoulli": (lambda d: mi.Bernoulli(_P, d=d), lambda rng, shape: rng.random(shape) < _P,
         lambda key, shape: jax.random.bernoulli(key, _P, shape)),
    "Gaussian": (lambda d: mi.Gaussian(0.0, 1.0, d=d), lambda rng, shape: rng.standard_normal(shape), jax.random.normal),
    "Laplace": (lambda d: mi.Laplace(0.0, 1.0, d=d), lambda rng, shape: rng.laplace(size=shape), jax.random.laplace),
    "uniform": (lambda d: mi.Uniform(0.0, 1.0, d=d), lambda rng, shape: rng.random(shape), jax.random.uniform),
    "exponential": (lambda d: mi.Exponential(1.0, d=d), lambda rng, shape: rng.standard_exponential(shape), jax.random.exponential),
    "Student-t": (lambda d: mi.StudentT(5.0, d=d), lambda rng, shape: rng.standard_t(5.0, shape), lambda key, shape: jax.random.t(key, 5.0, shape)),
    "discrete": (lambda d: mi.Discrete(_VALUES, _SHARES, d=d), lambda rng, shape: rng.choice(_VALUES, shape, p=_SHARES),
         lambda key, shape: jax.random.choice(key, jnp.asarray(_VALUES), shape, p=jnp.asarray(_SHARES))),
    "records": (lambda d: mi.Empirical(_pool(d)), lambda rng, shape: _pool(shape[1])[rng.integers(0, 1000, shape[0])],
         lambda key, shape: jnp.asarray(_pool(shape[1]))[jax.random.randint(key, shape[:1], 0, 1000)]),
}  # fmt: skip
_POOLS: dict[int, np.ndarray] = {}


def _pool(d: int) -> np.ndarray:
    if d not in _POOLS:
        _POOLS[d] = np.random.default_rng(0).normal(size=(1000, d))
    return _POOLS[d]


def own_mean(kind: str, shape: tuple[int, int], times: int, quick: bool) -> Contest:
    """A game of each world, `times` of them with NumPy, a fourth of that where it is quick."""
    law, rows, keyed = _KINDS[kind]
    (n, d), rng = shape, np.random.default_rng(0)
    target = np.ones(d) if kind != "records" else _pool(d)[0]
    game = mi.FixedTarget(lambda key, records: jnp.mean(records, axis=0), law(d), n=n, target=target)
    count = counter(game, mi.ScalarProduct(np.zeros(d)), "literal")

    def numpy_rows() -> float:
        return float(target @ rows(rng, shape).mean(0))

    few = times // 4 if quick else times
    return Contest(
        f"own mean of {kind} rows (n = {n}, d = {d})",
        "games",
        [
            Way("NumPy literal rows", in_turn(numpy_rows), few, library="numpy"),
            jax_rows(lambda key: jnp.asarray(target, jnp.float32) @ keyed(key, shape).mean(axis=0), few),
            # Long enough that the start of the threads does not count.
            Way("mipsim literal, single core", playing(count, 1), 16 * few),
            Way(f"mipsim literal, {cores()} threads", playing(count, cores()), 16 * few, all_cores=True),
        ],
    )


OWN_MEANS = (
    *(partial(own_mean, kind, _SHAPE, 400) for kind in _KINDS),
    *(partial(own_mean, kind, _LARGE, 8) for kind in ("Bernoulli", "Gaussian")),
)
"""A contest for each kind of records, and two whose games outgrow the cache."""
