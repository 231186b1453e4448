"""Clipped gradient steps played with every record drawn, a block of rows at a time, for any attack."""

from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from mipsim.attacks.base import AbstractAttack
from mipsim.engine.random.counter import Draws
from mipsim.engine.samplers.base import block_games
from mipsim.engine.samplers.clipped import (
    NOISE_ROW,
    TARGET_ROW,
    AbstractStep,
    any_step,
    clip_factor,
    clipped,
    is_in,
    row_normals,
    starts,
)
from mipsim.engine.samplers.gaussian_rows import GaussianRows, gaussian_rows
from mipsim.games.base import AbstractMembershipGame

_NUMBERS = 2**15  # float32 numbers drawn at a time: 128 kB, which stay in the L2 cache


class ClippedRows(AbstractStep):
    """Releases the output: a block of records is drawn, clipped and added while the next one is drawn.

    Attributes:
        attack: any.
        target: z*, shape (d,); None where it is random.
        records: the law of the records.
        rows_at_once: how many are in a block of rows.
    """

    fidelity: ClassVar[str] = "literal"
    name: ClassVar[str] = "clipped rows"
    attack: AbstractAttack
    target: Float[Array, " d"] | None
    records: GaussianRows
    rows_at_once: int = eqx.field(static=True)

    @property
    def numbers(self) -> int:
        return 16 * self.rows_at_once * self.records.groups

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        def one(game: Array) -> Array:
            own = draws._replace(games=game)
            target = self._target(own)
            output = self._release(target, own)
            return jnp.asarray(self.attack.score(target, output)).astype(jnp.float64)

        # One game at a time stays in the cache of a core; an accelerator wants many in flight.
        in_turn, together = partial(jax.lax.map, one), jax.vmap(one)
        return jax.lax.platform_dependent(draws.games, cpu=in_turn, default=together)

    def _target(self, draws: Draws) -> Float[Array, " d"]:
        if self.target is not None:
            return self.target
        law = self.records
        group = jnp.arange(law.groups, dtype=jnp.uint32)[None, :]
        first, second = _halves(_packed(law.draw(group, starts(TARGET_ROW, draws))))
        return law.unit * (law.joined((first[0], second[0])) + law.lost)

    def _release(self, target: Array, draws: Draws) -> Array:
        law, at_once, clip = self.records, self.rows_at_once, self.clip / self.records.unit
        group = jnp.arange(law.groups, dtype=jnp.uint32)[None, :]
        inside = is_in(self.inclusion, draws)
        others = self.rows - inside.astype(jnp.int64)  # the target stands in the last row

        def begin(block: Array | int) -> Array:
            return starts((block * at_once + jnp.arange(at_once))[:, None], draws)

        def add(block: Array | int, total: Array, count: Array, packed: Array) -> tuple[Array, Array]:
            first, second = _halves(packed)
            square = jnp.sum(first * first, axis=1) + jnp.sum(second * second, axis=1)
            kept = clip_factor(jnp.sqrt(square.astype(jnp.float64) + law.lost_square), clip)
            row = block * at_once + jnp.arange(at_once)
            kept = jnp.where((row >= 0) & (row < others), kept, 0.0)
            short = kept.astype(jnp.float32)
            added = [jnp.dot(short, half, precision=jax.lax.Precision.HIGHEST) for half in (first, second)]
            return total + law.joined((added[0], added[1])), count + jnp.sum(kept)

        def step(block: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
            *added, start = state
            return *add(block, *added), _packed(law.draw(group, start)), begin(block + 2)

        # Records are drawn into the loop's state, one block ahead: else XLA draws them once for each use. So the loop
        # begins with a block before the first, which holds no records.
        last = -(-self.rows // at_once) - 1
        none = jnp.zeros((at_once, law.groups), jnp.complex128)
        state = jnp.zeros(law.dimension), jnp.zeros(()), none, begin(0)
        total, count, packed, _ = jax.lax.fori_loop(-1, last, step, state)
        total, count = add(last, total, count, packed)
        total = law.unit * (total + count * law.lost) + jnp.where(inside, clipped(target, self.clip), 0.0)
        pair = jnp.arange(-(-law.dimension // 2), dtype=jnp.uint32)
        noise = jnp.concatenate(row_normals(pair, NOISE_ROW, draws))
        return total / self.rows + noise[: law.dimension] * jnp.sqrt(self.variance)


def clipped_rows_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> ClippedRows | None:
    """The literal sampler of a clipped step under any attack, or None where it does not apply.

    It applies to `FixedTarget` and `RandomTarget` with a law that `gaussian_rows` takes; others are played in float64
    by the general literal sampler. Must be called inside `exact_scope`.
    """
    step, law = any_step(game, attack), gaussian_rows(game.data)
    if step is None or law is None:
        return None
    width, rows = 4 * law.groups, step["rows"]
    # At least two blocks: XLA unrolls a loop of one, and then draws the records once for each use.
    at_once = max(1, min((rows + 1) // 2, _NUMBERS // width))
    block = block_games(rows * width, budget=2**21, most=1024)
    return ClippedRows(**step, records=law, block=block, rows_at_once=at_once)


def _packed(four: tuple[Array, ...]) -> Array:
    """Four float32 arrays as one array of 128-bit numbers, which one loop fills."""
    pairs = (jnp.stack(pair, axis=-1) for pair in (four[:2], four[2:]))
    low, high = (jax.lax.bitcast_convert_type(pair, jnp.float64) for pair in pairs)
    return jax.lax.complex(low, high)


def _halves(packed: Array) -> tuple[Array, Array]:
    """The numbers of a row's groups as its two stretches of coordinates, each (rows, 2 groups)."""
    first, second = (
        jax.lax.bitcast_convert_type(part, jnp.float32).reshape(packed.shape[0], -1)
        for part in (jnp.real(packed), jnp.imag(packed))
    )
    return first, second
