"""The jitted kernel of rare games: plays tilted games and accepts each with its weight over the weight's bound."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mipsim._precision import exact_scope, users_precision
from mipsim.attacks.base import AbstractAttack
from mipsim.engine.counting import on_device
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.random.counter import Draws, run_draws, words_of
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.games.base import AbstractMembershipGame

_COIN = 0xFFFFFFFD  # Philox words of the acceptance; samplers use numbers of coordinates, and two above this
_UNIT = 2.0**-20  # of the moments of standardised scores: sums of whole multiples have no order
_FAR = 64.0  # deviations at which a standardised score is cut off before its moments are summed in int64
_MOST_POWERS, _QUANTUM = 3, 16  # fixed shapes: a single executable serves every tilt


@eqx.filter_jit
def _accept(
    sampler: AbstractSampler,
    thresholds: Float[Array, " K"],
    powers: Float[Array, " P"],
    uppers: Bool[Array, " P"],
    standard: Float[Array, "2"],
    run: Draws,
    start: Int[Array, ""],
    stop: Int[Array, ""],
) -> tuple[Int[Array, "P K"], Int[Array, "3"]]:
    size = sampler.block
    first = start // size

    def play_block(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        counts, moments = state
        index = (first + i) * size + jnp.arange(size, dtype=jnp.int64)
        draws = run._replace(games=index.astype(jnp.uint64))
        score = sampler.scores(draws)[:, None]
        exponential = _exponential(draws)[:, None]
        played = (index >= start) & (index < stop)
        result = []
        for power, upper in zip(powers, uppers, strict=True):
            beyond = jnp.where(upper, score > thresholds, score <= thresholds) & played[:, None]
            # Accepted with probability exp(-power (S - t)): the exponential is at least power (S - t).
            retained = beyond & ((power == 0.0) | ((score - thresholds) * power <= exponential))
            result.append(jnp.sum(retained, axis=0))
        x = jnp.clip((score[:, 0] - standard[0]) / standard[1], -_FAR, _FAR)
        whole = (jnp.rint(jnp.nan_to_num(m) / _UNIT).astype(jnp.int64) for m in (x, x**2))
        added = jnp.stack([jnp.sum(jnp.where(played, part, 0)) for part in (jnp.isnan(x), *whole)])
        return counts + jnp.stack(result), moments + added

    # The trip count is traced, so that every range shares an executable.
    trips = jnp.where(stop > start, -(-stop // size) - first, 0)
    empty = jnp.zeros((powers.shape[0], thresholds.shape[0]), jnp.int64), jnp.zeros(3, jnp.int64)
    return jax.lax.fori_loop(0, trips, play_block, empty)


def _exponential(draws: Draws) -> Float[Array, " G"]:
    """A standard exponential a game, from 53 bits of its own words."""
    a, b, _, _ = words_of(draws)(_COIN)
    wide = (a.astype(jnp.uint64) << jnp.uint64(21)) ^ (b.astype(jnp.uint64) >> jnp.uint64(11))
    return -jnp.log((wide.astype(jnp.float64) + 0.5) * 2.0**-53)


class Thinner:
    """A tilted sampler with its thresholds, ready to play any range of games.
    `sampler`: draws S under the tilted law; its leaves must be JAX arrays; `world`: the world that the sampler is called
    for; `thresholds`: t_k, in units of S, shape (K,); `powers`: each theta for which exp(-theta (S - t)) is the
    acceptance, shape (P,), P <= 3; `uppers`: for each, whether {S > t} counts, else {S <= t}; `standard`: mean and
    standard deviation that S should have; `seed`, `stream`: of the random numbers.
    """

    def __init__(
        self,
        sampler: AbstractSampler,
        world: int,
        thresholds: np.ndarray,
        powers: tuple[float, ...],
        uppers: tuple[bool, ...],
        standard: tuple[float, float],
        seed: int,
        stream: int,
    ) -> None:
        self.block = sampler.block
        self._precision = users_precision()
        self._sizes = len(powers), thresholds.size
        # Padded, so that a single executable serves every tilt: no score exceeds +inf, and what is added is cut off again.
        thresholds = np.pad(thresholds, (0, -thresholds.size % _QUANTUM), constant_values=np.inf)
        missing = _MOST_POWERS - len(powers)
        powers, uppers = (*powers, *[0.0] * missing), (*uppers, *[True] * missing)
        with exact_scope():
            self._arguments = (
                sampler,
                jnp.asarray(thresholds),
                jnp.asarray(np.array(powers, dtype=np.float64)),
                jnp.asarray(np.array(uppers)),
                jnp.asarray(np.array(standard, dtype=np.float64)),
                run_draws(seed, stream, world),
            )

    def __call__(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Play games start, ..., stop - 1.
        Returns (whole numbers that add up over ranges, nothing): the accepted games of each power and threshold, P K of
        them, then the number of NaN scores and the sums of x and x^2, x the standardised score.
        """
        with exact_scope(self._precision):  # entered here because the scope is per thread
            bounds = (jnp.asarray(x, dtype=jnp.int64) for x in (start, stop))
            counts, moments = jax.device_get(_accept(*self._arguments, *bounds))
        retained = counts[: self._sizes[0], : self._sizes[1]]
        return np.concatenate([retained.ravel(), moments]), np.zeros(0)


def moments_of(sums: np.ndarray, games: int) -> tuple[float, float]:
    """Mean of x and of x^2, for x the standardised score."""
    return float(sums[1]) * _UNIT / games, float(sums[2]) * _UNIT / games


def untilted(game: AbstractMembershipGame, attack: AbstractAttack) -> AbstractSampler:
    """The cheapest faithful sampler of the game. Must be called inside `exact_scope`."""
    return on_device(build_sampler(game, attack, "auto"))
