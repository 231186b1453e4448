"""Clipped gradient steps played with every record drawn, in blocks of rows, for Gaussian gradients."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32, UInt64

from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.distributions.gaussian import Gaussian
from mipsim.engine.clipped import is_linear, read_step
from mipsim.engine.normals import four_normals, normal_pair
from mipsim.engine.philox import philox
from mipsim.engine.sampler import AbstractSampler, block_games
from mipsim.games.base import AbstractGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget

_LEAST_DIMENSION = 16
_FARTHEST = 64.0
_LANES = 2**14
_ROW_NUMBERS = 2**16
# Rows that no batch has: they number the draws that are not records of it.
_TARGET_ROW, _NOISE_ROW, _COIN_ROW = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


class GaussianRows(eqx.Module):
    """The law of the records in units of its largest standard deviation, as float32, with what that rounds away.

    Coordinates stand in groups of four, padded with zeros: group g holds 2g, 2g + 1, half + 2g and half + 2g + 1, half
    being half of the padded dimension. Then two halves of a 128-bit number are two contiguous stretches of a record.

    Attributes:
        location, factor: means and standard deviations of the groups, float32, shape (4, groups).
        lost: means minus their float32 values, in the order of the coordinates, shape (padded,).
        unit: the largest standard deviation.
        lost_square: sum of mean^2 minus that of its float32 values.
        dimension: d.
    """

    location: Float[Array, "4 groups"]
    factor: Float[Array, "4 groups"]
    lost: Float[Array, " padded"]
    unit: Float[Array, ""]
    lost_square: Float[Array, ""]
    dimension: int = eqx.field(static=True)

    def draw(self, group: Array, row: Array, games: Array, place: Array, key: Array) -> tuple[Array, ...]:
        """Four float32 coordinates of each record; group, row and games broadcast."""
        shape = jnp.broadcast_shapes(group.shape, row.shape, games.shape)
        normals = four_normals(_words(jnp.broadcast_to(group, shape), row, games, place, key))
        return tuple(self.location[i][group] + self.factor[i][group] * z for i, z in enumerate(normals))

    def grouped(self, vector: Float[Array, " d"]) -> Float[Array, "4 groups"]:
        """A vector's entries as the groups hold them."""
        return jnp.stack(_grouped(jnp.pad(vector, (0, self.lost.shape[0] - self.dimension))))


class ClippedScores(AbstractSampler):
    """Linear scores of a fixed target: of each record, only its norm and its score are kept while it is drawn.

    Attributes:
        attack: linear, with a score that is weights . output + offset.
        target: z*, shape (d,).
        records: their law.
        clip, drawn: as in `NoisyStep`.
        variance: of the noise, in every output coordinate, shape (d,).
        rows: how many rows are averaged.
    """

    fidelity: ClassVar[str] = "literal"
    name: ClassVar[str] = "clipped scores"
    attack: AbstractLinearAttack
    target: Float[Array, " d"]
    records: GaussianRows
    clip: Float[Array, ""]
    variance: Float[Array, " d"]
    drawn: Float[Array, ""]
    rows: int = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Play and score the games."""
        law, place = self.records, 2 * stream + world
        weights = self.attack.weights(self.target)
        size = jnp.max(jnp.abs(weights))
        share = weights / jnp.where(size > 0.0, size, 1.0)
        short = law.grouped(share).astype(jnp.float32)
        row = jnp.tile(jnp.arange(self.rows, dtype=jnp.uint32), games.shape[0])
        game = jnp.repeat(games, self.rows)

        def step(group: Array, sums: Array) -> Array:
            record = law.draw(group, row, game, place, seed)
            square = sum((x * x for x in record), jnp.zeros((), jnp.float32))
            score = sum((short[i][group] * x for i, x in enumerate(record)), jnp.zeros((), jnp.float32))
            # One complex number, so that one loop computes both: XLA would otherwise draw the record twice.
            return sums + jax.lax.complex(square.astype(jnp.float64), score.astype(jnp.float64))

        sums = jax.lax.fori_loop(
            0, law.location.shape[1], step, jnp.zeros(row.shape, jnp.complex128)
        ).reshape(-1, self.rows)
        # What the float32 means and weights lost, as far as it does not average out.
        padded = law.lost.shape[0] - law.dimension
        means = jnp.sum(law.grouped(jnp.pad(share, (0, 0))) * law.location) + jnp.dot(
            law.lost, jnp.pad(share, (0, padded))
        )
        lost = means - jnp.sum(short.astype(jnp.float64) * law.location)
        kept = _kept(jnp.sqrt(jnp.real(sums) + law.lost_square), self.clip / law.unit)
        inside = _is_in(self.drawn, world, games, place, seed)
        last = jnp.arange(self.rows) == self.rows - 1
        kept = jnp.where(last & inside[:, None], 0.0, kept)
        own = jnp.dot(weights, _clipped(self.target, self.clip))
        total = size * law.unit * jnp.sum(kept * (jnp.imag(sums) + lost), axis=1) + jnp.where(
            inside, own, 0.0
        )
        noise, _ = normal_pair(_words(jnp.uint32(0), jnp.uint32(_NOISE_ROW), games, place, seed))
        score = total / self.rows + noise * jnp.sqrt(jnp.sum(weights**2 * self.variance))
        return jax.vmap(lambda s: self.attack.link(self.target, s))(score).astype(jnp.float64)


class ClippedRows(AbstractSampler):
    """Any score of the released output: a few records at a time are drawn, clipped and added.

    Attributes:
        attack: any.
        target: z*, shape (d,); None where it is random.
        records, clip, variance, drawn, rows: as in `ClippedScores`.
        rows_at_once: records drawn at a time.
        games_at_once: games played at a time.
    """

    fidelity: ClassVar[str] = "literal"
    name: ClassVar[str] = "clipped rows"
    attack: AbstractAttack
    target: Float[Array, " d"] | None
    records: GaussianRows
    clip: Float[Array, ""]
    variance: Float[Array, " d"]
    drawn: Float[Array, ""]
    rows: int = eqx.field(static=True)
    block: int = eqx.field(static=True)
    rows_at_once: int = eqx.field(static=True)
    games_at_once: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Play and score the games."""
        place = 2 * stream + world

        def one(game: Array) -> Array:
            target = self._target(game, place, seed)
            output = self._release(target, game, world, place, seed)
            return jnp.asarray(self.attack.score(target, output)).astype(jnp.float64)

        return jax.lax.map(one, games, batch_size=self.games_at_once)

    def _target(self, game: Array, place: Array, key: Array) -> Float[Array, " d"]:
        if self.target is not None:
            return self.target
        law = self.records
        group = jnp.arange(law.location.shape[1], dtype=jnp.uint32)
        record = law.draw(group, jnp.uint32(_TARGET_ROW), game, place, key)
        joined = jnp.concatenate([jnp.stack(pair, axis=1).reshape(-1) for pair in (record[:2], record[2:])])
        return law.unit * (joined.astype(jnp.float64) + law.lost)[: law.dimension]

    def _release(self, target: Array, game: Array, world: Array, place: Array, key: Array) -> Array:
        law, at_once = self.records, self.rows_at_once
        group = jnp.arange(law.location.shape[1], dtype=jnp.uint32)[None, :]
        inside = _is_in(self.drawn, world, game, place, key)
        others = self.rows - inside.astype(jnp.int64)
        clip = self.clip / law.unit

        def drawn(block: Array) -> Array:
            row = (block * at_once + jnp.arange(at_once)).astype(jnp.uint32)[:, None]
            return _packed(law.draw(group, row, game, place, key))

        def step(block: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            total, count, packed = state
            halves = [_unpacked(part) for part in (jnp.real(packed), jnp.imag(packed))]
            square = sum((jnp.sum(half * half, axis=1) for half in halves), jnp.zeros((), jnp.float32))
            kept = _kept(jnp.sqrt(square.astype(jnp.float64) + law.lost_square), clip)
            kept = jnp.where(block * at_once + jnp.arange(at_once) < others, kept, 0.0)
            short = kept.astype(jnp.float32)
            added = [jnp.dot(short, half, precision=jax.lax.Precision.HIGHEST) for half in halves]
            # The records of the next step are drawn here: in the loop's state, XLA cannot draw them twice.
            return (
                total + jnp.concatenate(added).astype(jnp.float64),
                count + jnp.sum(kept),
                drawn(block + 1),
            )

        steps = -(-self.rows // at_once)
        begin = jnp.zeros(law.lost.shape), jnp.zeros(()), drawn(jnp.zeros((), jnp.int64))
        total, count, _ = jax.lax.fori_loop(0, steps, step, begin)
        total = law.unit * (total + count * law.lost)[: law.dimension]
        total = total + jnp.where(inside, _clipped(target, self.clip), 0.0)
        pairs = jnp.arange(-(-law.dimension // 2), dtype=jnp.uint32)
        noise = jnp.concatenate(
            normal_pair(_words(pairs, jnp.uint32(_NOISE_ROW), game, place, key))
        )[: law.dimension]
        return total / self.rows + noise * jnp.sqrt(self.variance)


def clipped_rows_sampler(game: AbstractGame, attack: AbstractAttack) -> ClippedScores | ClippedRows | None:
    """The sampler that draws every record of a clipped gradient step, or None where it does not apply.

    It applies to `FixedTarget` and `RandomTarget`, Gaussian data with independent coordinates, d >= 16, and means
    within 64 of the largest standard deviations, since its records are float32; other games are played in float64 by
    the general literal sampler. Must be called inside `exact_scope`.
    """
    step = read_step(game)
    if step is None or type(game) not in (FixedTarget, RandomTarget) or type(game.data) is not Gaussian:
        return None
    data, d = game.data, game.data.dimension
    if not data.is_product or d < _LEAST_DIMENSION:
        return None
    unit = float(np.sqrt(data.cov.max()))
    if np.abs(data.location).max() > _FARTHEST * unit:
        return None
    target = jnp.asarray(game.target) if isinstance(game, FixedTarget) else None
    law = _gaussian_rows(data.location / unit, np.sqrt(data.cov) / unit, unit)
    clip, drawn = jnp.asarray(step.clip), jnp.asarray(step.drawn)
    variance = jnp.asarray(np.broadcast_to(step.variance, (d,)))
    if target is not None and is_linear(attack):
        return ClippedScores(
            attack=attack,
            target=target,
            records=law,
            clip=clip,
            variance=variance,
            drawn=drawn,
            rows=step.rows,
            block=block_games(step.rows, budget=_LANES, most=1024),
        )
    padded = law.lost.shape[0]
    at_once = max(1, min(step.rows, _ROW_NUMBERS // padded))
    block = block_games(step.rows * padded, budget=2**21, most=1024)
    return ClippedRows(
        attack=attack,
        target=target,
        records=law,
        clip=clip,
        variance=variance,
        drawn=drawn,
        rows=step.rows,
        block=block,
        rows_at_once=at_once,
        games_at_once=min(block, block_games(at_once * padded, budget=_ROW_NUMBERS, most=1024)),
    )


def _gaussian_rows(location: np.ndarray, factor: np.ndarray, unit: float) -> GaussianRows:
    d = location.size
    pad = (0, -d % 4)
    location, factor = np.pad(location, pad), np.pad(factor, pad)
    short = location.astype(np.float32)
    return GaussianRows(
        location=jnp.stack(_grouped(jnp.asarray(short))),
        factor=jnp.stack(_grouped(jnp.asarray(factor.astype(np.float32)))),
        lost=jnp.asarray(location - short),
        unit=jnp.asarray(unit),
        lost_square=jnp.asarray(np.sum(location**2) - np.sum(short.astype(np.float64) ** 2)),
        dimension=d,
    )


def _grouped(vector: Array) -> tuple[Array, ...]:
    first, second = jnp.split(vector, 2)
    return first[0::2], first[1::2], second[0::2], second[1::2]


def _words(group: Array, row: Array, games: Array, place: Array, key: Array) -> tuple[Array, ...]:
    """Four words for each (group, row, game); games below 2^61 share the last counter with the world and stream."""
    low, high = games.astype(jnp.uint32), (games >> jnp.uint64(32)).astype(jnp.uint32)
    last = high | (place.astype(jnp.uint32) << jnp.uint32(30))
    return philox((group, row, low, last), (key[1], key[0]))


def _is_in(drawn: Array, world: Array, games: Array, place: Array, key: Array) -> Array:
    """Whether the target is among the rows: in the "in" world, with probability `drawn`."""
    first, second, *_ = _words(jnp.uint32(0), jnp.uint32(_COIN_ROW), games, place, key)
    coin = first.astype(jnp.float64) * 2.0**-32 + second.astype(jnp.float64) * 2.0**-64
    return (world == 1) & (coin < drawn)


def _kept(norm: Array, clip: Array) -> Array:
    """min(1, clip / norm), also for a norm of 0 and a clip of inf."""
    return jnp.where(norm > clip, clip / norm, 1.0)


def _clipped(gradient: Array, clip: Array) -> Array:
    return gradient * _kept(jnp.linalg.norm(gradient), clip)


def _packed(four: tuple[Array, ...]) -> Array:
    """Four float32 arrays as one array of 128-bit numbers."""
    low, high = (
        jax.lax.bitcast_convert_type(jnp.stack(pair, axis=-1), jnp.float64) for pair in (four[:2], four[2:])
    )
    return jax.lax.complex(low, high)


def _unpacked(part: Array) -> Array:
    """The float32 pairs in a float64 array (rows, groups), side by side: (rows, 2 groups)."""
    return jax.lax.bitcast_convert_type(part, jnp.float32).reshape(part.shape[0], -1)
