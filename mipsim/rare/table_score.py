"""Additive scores of a mean of Bernoulli records, such as the exact likelihood ratio: the law of every term is tilted."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32
from scipy.special import gammaln, xlog1py, xlogy

from mipsim._precision import exact_scope
from mipsim.attacks.base import AbstractAdditiveAttack
from mipsim.attacks.likelihood_ratio import LikelihoodRatio
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.binomial_table import MOST_BITS, alias_entries, draw
from mipsim.engine.random.counter import Draws, words_of
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.forms.score import link_at, terms_at
from mipsim.games.fixed_target import FixedTarget
from mipsim.mechanisms.release import Release
from mipsim.rare.tilted_score import IN, AbstractTiltedScore, Cumulant, ratio_matches

_WORDS = 4  # of a Philox call
_TAIL = 2.0**-34  # a quarter of the unit of the alias tables
_BLOCK = 1024  # games at once: their words stay in the cache
_REACH = (
    10.0  # standard deviations of the tabulated counts, and 30 more: a tilt moves a coordinate by far less
)


class TermSampler(AbstractSampler):
    """S = sum_j v_j(C_j), with C_j sampled from an alias table; the same for both worlds."""

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "terms"
    entries: UInt32[Array, "rows C"]  # alias entries, shape (rows, 2^bits), rows a multiple of 4
    values: Float[Array, "rows C"]  # v_j, float64, shape (rows, 2^bits)
    bits: int = eqx.field(static=True)  # log2 of the columns

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        """Sums over the coordinates in their order, so that a score is the same in every block."""
        words = words_of(draws)

        def step(group: Array, total: Array) -> Array:
            for i, word in enumerate(words(group.astype(jnp.uint32))):
                row = jax.lax.dynamic_index_in_dim(self.entries, group * _WORDS + i, keepdims=False)
                value = jax.lax.dynamic_index_in_dim(self.values, group * _WORDS + i, keepdims=False)
                total = total + value.at[draw(row, word, self.bits)].get(mode="promise_in_bounds")
            return total

        groups = self.entries.shape[0] // _WORDS
        return jax.lax.fori_loop(0, groups, step, jnp.zeros(draws.games.shape, jnp.float64))


def term_sampler(law: np.ndarray, values: np.ndarray) -> TermSampler:
    """Tabulate independent terms. Must be called inside `exact_scope`.

    Cumulative probabilities are rounded to multiples of 2^-32 after tails beyond 2^-34 are left out.

    `law`: probabilities, each row summing to 1, shape (d, m); `values`: the value of each, shape (d, m); anything where
    the probability is 0. Raises ValueError if a coordinate needs more than 2^16 values.
    """
    first = (np.cumsum(law, axis=1) <= _TAIL).sum(axis=1)
    last = law.shape[1] - 1 - (np.cumsum(law[:, ::-1], axis=1) <= _TAIL).sum(axis=1)
    bits = max(1, int((last - first).max()).bit_length())
    if bits > MOST_BITS:
        raise ValueError(f"a coordinate takes {(last - first).max()} values; the tables hold 2^{MOST_BITS}")
    columns = first[:, None] + np.arange(1 << bits)
    inside = columns <= last[:, None]
    columns = np.minimum(columns, law.shape[1] - 1)
    masses = np.where(inside, np.take_along_axis(law, columns, axis=1), 0.0)
    retained = np.where(masses > 0, np.take_along_axis(values, columns, axis=1), 0.0)
    cdf = np.cumsum(masses / masses.sum(axis=1, keepdims=True), axis=1)
    cdf[:, -1] = 1.0
    whole = np.diff(np.rint(np.minimum(cdf, 1.0) * 2.0**32).astype(np.int64), axis=1, prepend=0)
    missing = -law.shape[0] % _WORDS
    tables = alias_entries(whole, bits), retained
    entries, numbers = (jnp.asarray(np.pad(table, ((0, missing), (0, 0)))) for table in tables)
    return TermSampler(entries=entries, values=numbers, bits=bits, block=_BLOCK)


class TableScore(AbstractTiltedScore):
    """S = sum_j v_j(X_j), X_j ~ Binomial(k, p_j) out and z_j + Binomial(k - 1, p_j) in, by tables of both.

    K(theta) = sum_j log sum_x P(X_j = x) exp(theta v_j(x)); the tilted terms stay independent, each on the same values.

    `game`: a fixed-target game of a mean of Bernoulli records, without noise; `mean`: what the mechanism's `plain_mean`
    returns; `attack`: the additive attack; its link is left out of S.
    """

    name = "additive score, tilted terms"

    def __init__(self, game: FixedTarget, mean: Release, attack: AbstractAdditiveAttack) -> None:
        if not isinstance(game.data, Bernoulli):
            raise ValueError(
                f"data is {type(game.data).__name__}; an additive score that is not linear is tilted for Bernoulli data"
            )
        self.mean, self._attack, self._game = mean, attack, game
        self._p = np.asarray(game.data.p)
        self._tables: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def _table(self, world: int) -> tuple[np.ndarray, np.ndarray]:
        """Log P(X_j = x) and v_j(x), both of shape (d, m)."""
        if world not in self._tables:
            k, p = self.mean.rows - (world == IN), self._p
            reach = np.ceil(_REACH * np.sqrt(k * p * (1 - p))).astype(np.int64) + 30
            low = np.clip(np.floor(k * p).astype(np.int64) - reach, 0, k)
            width = min(k + 1, int(2 * reach.max()) + 2)
            low = np.clip(low, 0, k + 1 - width)
            x = (low[:, None] + np.arange(width)).astype(np.float64)
            choose = gammaln(k + 1.0) - gammaln(x + 1) - gammaln(k - x + 1)
            law = choose + xlogy(x, p[:, None]) + xlog1py(k - x, -p[:, None])
            law -= np.log(np.exp(law).sum(axis=1, keepdims=True))
            total = x + (np.asarray(self._game.target)[:, None] if world == IN else 0.0)
            with exact_scope():
                terms = terms_at(self._attack, np.asarray(self._game.target), total / self.mean.rows)
            if (bad := np.isnan(terms) | (terms == np.inf)).any():
                j, column = (int(i) for i in np.argwhere(bad)[0])
                raise ValueError(
                    f"attack {type(self._attack).__name__} contributes {terms[j, column]} at coordinate {j}; "
                    "contributions must be numbers or -inf"
                )
            self._tables[world] = law, terms
        return self._tables[world]

    def _tilted(self, theta: float, world: int) -> tuple[np.ndarray, np.ndarray, float]:
        """The tilted probabilities and the values, both (d, m), and K."""
        law, terms = self._table(world)
        finite = np.isfinite(terms)
        values = np.where(finite, terms, 0.0)
        exponent = law + theta * values
        if theta != 0.0:
            exponent = np.where(finite, exponent, -np.inf)
        top = exponent.max(axis=1, keepdims=True)
        masses = np.exp(exponent - top)
        total = masses.sum(axis=1, keepdims=True)
        return masses / total, terms if theta == 0.0 else values, float((np.log(total) + top).sum())

    def cumulant(self, theta: float, world: int) -> Cumulant:
        masses, values, cumulant = self._tilted(theta, world)
        values = np.where(np.isfinite(values), values, 0.0)
        mean = (masses * values).sum(axis=1, keepdims=True)
        return Cumulant(cumulant, float(mean.sum()), float((masses * (values - mean) ** 2).sum()))

    def reach(self, world: int) -> tuple[float, float]:
        """Everything, but theta >= 0 where a term can be -inf."""
        _, terms = self._table(world)
        return (-np.inf if np.isfinite(terms).all() else 0.0), np.inf

    def sampler(self, theta: float, world: int) -> tuple[AbstractSampler, int]:
        masses, values, _ = self._tilted(theta, world)
        return term_sampler(masses, values), world

    def link(self, score: np.ndarray) -> np.ndarray:
        return link_at(self._attack, self._game.target, score)

    @property
    def is_log_ratio(self) -> bool:
        return (
            isinstance(self._attack, LikelihoodRatio)
            and not self.plain_inside
            and ratio_matches(self._attack, self._game, self.mean)
        )
