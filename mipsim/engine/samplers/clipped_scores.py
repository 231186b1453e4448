"""Linear scores of clipped gradient steps, every record drawn; only its norm and its score are kept."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from mipsim.attacks.base import AbstractAttack
from mipsim.engine.random.counter import Draws
from mipsim.engine.samplers.base import block_games
from mipsim.engine.samplers.clipped import AbstractLinearStep, clip_factor, is_in, linear_step, starts
from mipsim.engine.samplers.gaussian_rows import GaussianRows, gaussian_rows
from mipsim.games.base import AbstractMembershipGame

_LANES = 2**13  # records drawn side by side: their sums, 16 bytes each, stay in the L2 cache
_GROUPS = 64  # of four coordinates that are summed in float32 before the float64 sum takes over


class ClippedScores(AbstractLinearStep):
    """Plays a fixed target with a linear attack, all records of a few games side by side, coordinate by coordinate.

    A record needs two numbers, its squared norm and weights . record, so that memory is 16 bytes a record.

    Attributes:
        records: their law.
    """

    fidelity: ClassVar[str] = "literal"
    name: ClassVar[str] = "clipped scores"
    records: GaussianRows

    @property
    def numbers(self) -> int:
        return 32 * int(self.rows)

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        law = self.records
        weights = self.attack.weights(self.target)
        size = jnp.max(jnp.abs(weights))
        share = weights / jnp.where(size > 0.0, size, 1.0)
        short = law.grouped(share).astype(jnp.float32)
        row = jnp.tile(jnp.arange(self.rows, dtype=jnp.uint32), draws.games.shape[0])
        start = starts(row, draws._replace(games=jnp.repeat(draws.games, self.rows)))

        def one_group(group: Array, sums: Array) -> Array:
            record = law.draw(group.astype(jnp.uint32), start)
            square = sum((x * x for x in record[1:]), record[0] * record[0])
            score = sum((short[i][group] * x for i, x in enumerate(record)), jnp.zeros((), jnp.float32))
            # One complex number, so that one loop computes both: XLA would otherwise draw the record twice.
            return sums + jax.lax.complex(square, score)

        def some_groups(k: Array, sums: Array) -> Array:
            # Few enough for float32 sums; a loop that mixes them with float64 is vectorised half as wide.
            last = jnp.minimum((k + 1) * _GROUPS, law.groups)
            none = jnp.zeros(start.shape, jnp.complex64)
            return sums + jax.lax.fori_loop(k * _GROUPS, last, one_group, none).astype(jnp.complex128)

        none = jnp.zeros(start.shape, jnp.complex128)
        sums = jax.lax.fori_loop(0, -(-law.groups // _GROUPS), some_groups, none).reshape(-1, self.rows)
        norm = jnp.sqrt(jnp.real(sums) + law.lost_square)
        # What float32 cut off the weights and the means adds up over the records: it is put back.
        lost = jnp.sum((law.grouped(share) - short) * law.location) + jnp.dot(share, law.lost)
        inside = is_in(self.inclusion, draws)
        # The target stands in the last row: records are exchangeable.
        is_record = (jnp.arange(self.rows) < self.rows - 1) | ~inside[:, None]
        kept = jnp.where(is_record, clip_factor(norm, self.clip / law.unit), 0.0)
        total = size * law.unit * jnp.sum(kept * (jnp.imag(sums) + lost), axis=1)
        return self.finished(weights, total, inside, draws)


def clipped_scores_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> ClippedScores | None:
    """The literal sampler of a clipped step under a linear attack, or None where it does not apply.

    It applies to `FixedTarget` with a law that `gaussian_rows` takes. Must be called inside `exact_scope`.
    """
    step, law = linear_step(game, attack), gaussian_rows(game.data)
    if step is None or law is None:
        return None
    return ClippedScores(**step, records=law, block=block_games(step["rows"], budget=_LANES, most=1024))
