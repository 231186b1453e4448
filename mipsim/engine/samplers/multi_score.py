"""Samplers that score a release many times: by several attacks, or for several targets."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.engine.random.counter import GameDraws
from mipsim.engine.samplers.base import AbstractSampler, block_games, game_keys
from mipsim.engine.samplers.columns import ColumnSampler, column_sampler
from mipsim.forms.problem import problem_of
from mipsim.forms.score import line_at
from mipsim.games.base import AbstractGame
from mipsim.games.fixed_target import FixedTarget

_NUMBERS = 2**19  # a block's numbers: 4 MB in float64


class StackedAttacks(AbstractAttack):
    """Several attacks as a single attack whose score is a vector; linear attacks on a fixed target are a single matrix.

    The samplers map the score over the games of a block, so that XLA sees a single product of matrices.
    """

    others: tuple[AbstractAttack, ...]  # the attacks that score a release by themselves
    # weights, offsets: of the linear attacks, shapes (k, d) and (k,)
    weights: Float[Array, "k d"]
    offsets: Float[Array, " k"]
    # where each attack's score stands among those of the linear ones, then of the others
    order: tuple[int, ...] = eqx.field(static=True)

    @classmethod
    def of(cls, game: AbstractGame, attacks: Sequence[AbstractAttack]) -> "StackedAttacks":
        """The attacks on a single game. Must be called inside `exact_scope`."""
        lines: dict[int, tuple[np.ndarray, float]] = {}
        for i, attack in enumerate(attacks):
            if isinstance(game, FixedTarget) and isinstance(attack, AbstractLinearAttack):
                lines[i] = line_at(attack, game.target)
        rest = [i for i in range(len(attacks)) if i not in lines]
        return cls(
            others=tuple(attacks[i] for i in rest),
            weights=jnp.asarray(np.array([w for w, _ in lines.values()])),
            offsets=jnp.asarray(np.array([c for _, c in lines.values()])),
            order=tuple(int(i) for i in np.argsort([*lines, *rest])),
        )

    def score(self, target: Float[Array, " d"], output: Array) -> Float[Array, " attacks"]:
        """Return the scores in the order of the attacks."""
        scores = [jnp.asarray(a.score(target, output)).astype(jnp.float64)[None] for a in self.others]
        if self.offsets.shape[0]:
            scores.insert(0, self.weights @ output + self.offsets)
        return jnp.concatenate(scores)[np.asarray(self.order)]


class ManyTargets(AbstractSampler):
    """Several targets of a noisy mean, scored on the same rows; the last column is that of a random target.

    In the "out" world a single release is scored for every target. In the "in" world each target has a release of its own,
    made of the same other rows and the same noise: for target z the output is base + z / rows, so that a linear attack
    needs a single matrix product, weights . base, and a number per target, weights . z / rows. The base is the output of
    the game whose target is the origin.
    """

    base: FixedTarget  # that game
    # draws its outputs, or None where it has none; then each is sampled by itself, from its law or its rows
    tables: ColumnSampler | None
    attack: AbstractAttack  # aimed at each target in turn
    targets: Float[Array, "m d"]  # shape (m, d)
    # weights, offsets and weights . z of a linear attack, shapes (m, d), (m,), (m,); None for others
    lines: tuple[Float[Array, "m d"], Float[Array, " m"], Float[Array, " m"]] | None
    inclusion: Float[Array, ""]  # the probability that the target is among them
    deviation: Float[Array, " d"]  # of the noise in every output coordinate, shape (d,)
    rows: int | Int[Array, ""]  # how many rows are averaged
    fidelity: str = eqx.field(static=True)  # pyright: ignore[reportIncompatibleVariableOverride] - either
    name: str = eqx.field(static=True)  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def numbers(self) -> int:
        m, d = self.targets.shape
        return 4 * (
            m * (1 if self.lines is not None else d)
            + d * (int(self.rows) if self.fidelity == "literal" else 1)
        )

    def scores(self, draws: GameDraws) -> Float[Array, "G columns"]:
        keys = game_keys(draws)
        if self.tables is not None:
            _, base, inside = self.tables.outputs(draws)
            inside = jnp.broadcast_to(inside, draws.games.shape)
        else:
            base, inside = jax.vmap(lambda key: self._base(key, draws.world == 1), out_axes=(1, 0))(keys)
        if self.lines is None:
            scores = jax.lax.map(lambda pair: self._each_target(*pair), (base.T, inside)).T
        else:
            (weights, offsets, own), entered = self.lines, jnp.where(inside, 1.0 / self.rows, 0.0)
            scores = weights @ base + own[:, None] * entered + offsets[:, None]
        # The tables use no keys, and `_base` splits them: the choice of the target is independent of the release.
        m = self.targets.shape[0]
        pick = jax.vmap(lambda key: jax.random.randint(jax.random.fold_in(key, 1), (), 0, m))
        item = jnp.take_along_axis(scores, pick(keys)[None, :], axis=0)
        return jnp.concatenate([scores, item]).T

    def _base(self, key: Array, member: Array) -> tuple[Float[Array, " d"], Bool[Array, ""]]:
        """An output without the target, and whether it is to be added."""
        key_rows, key_row, key_noise, key_coin = jax.random.split(jax.random.fold_in(key, 0), 4)
        inside = member & (jax.random.uniform(key_coin) < self.inclusion)
        data = self.base.data
        if self.fidelity == "literal":
            others = jnp.sum(data.sample(key_rows, int(self.rows) - 1), axis=0)
        else:
            draw_sum = data.sum_sampler()
            assert draw_sum is not None  # the builder has seen to it
            others = draw_sum(key_rows, self.rows - 1)
        row = jnp.where(inside, 0.0, data.sample(key_row, 1)[0])
        noise = self.deviation * jax.random.normal(key_noise, self.deviation.shape)
        return (others + row) / self.rows + noise, inside

    def _each_target(self, base: Array, inside: Array) -> Float[Array, " m"]:
        share = jnp.where(inside, 1.0 / self.rows, 0.0)
        return jax.vmap(lambda z: self.attack.score(z, base + share * z).astype(jnp.float64))(self.targets)


def many_targets_sampler(
    game: FixedTarget, attack: AbstractAttack, targets: np.ndarray, fidelity: str
) -> ManyTargets:
    """The sampler of several targets. Must be called inside `exact_scope`.
    Raises ValueError if the mechanism is not a mean with Gaussian noise and sub-sampling: for others, targets do not
    share their rows linearly, and are played separately.
    """
    base = FixedTarget(game.mechanism, game.data, game.n, np.zeros(targets.shape[1]))
    problem = problem_of(base, attack, transform=False)
    if problem is None or not problem.mean.is_plain:
        raise ValueError(
            f"mechanism is {kind_of(game.mechanism)}; many targets share rows only for EmpiricalMean with "
            "GaussianNoise and Subsampled: play each target separately"
        )
    mean, (m, d) = problem.mean, targets.shape
    tables = column_sampler(problem) if fidelity != "literal" and game.data.is_product else None
    literal = fidelity == "literal" or (tables is None and game.data.sum_sampler() is None)
    if literal and fidelity == "sufficient":
        raise ValueError(
            f"fidelity is 'sufficient', but sums of {kind_of(game.data)} data have no exact law here; use "
            "'literal' or 'auto'"
        )
    lines = None
    if isinstance(attack, AbstractLinearAttack):
        weights, offsets = map(np.array, zip(*(line_at(attack, z) for z in targets), strict=True))
        lines = jnp.asarray(weights), jnp.asarray(offsets), jnp.asarray(np.sum(weights * targets, axis=1))
    numbers = (mean.rows * d if literal else d) + m * (1 if lines else d)
    return ManyTargets(
        base=base,
        tables=tables,
        attack=attack,
        targets=jnp.asarray(targets),
        lines=lines,
        inclusion=jnp.asarray(mean.inclusion),
        deviation=jnp.asarray(np.broadcast_to(np.sqrt(mean.variance), (d,))),
        rows=mean.rows if literal else jnp.asarray(mean.rows),
        fidelity="literal" if literal else "sufficient",
        name=tables.name if tables else "literal" if literal else "exact draw",
        block=block_games(numbers, budget=_NUMBERS, most=1024),
    )
