"""Samplers: how the scores of a block of games are drawn, and whether the target is among their rows."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt64

from mipsim._family import with_traced_sizes
from mipsim._precision import exact_scope, fixed_key
from mipsim.attacks.base import AbstractAttack
from mipsim.engine.random.counter import Draws, halves, long_word, run_draws, uniform, words_of
from mipsim.engine.random.keys import COUNTER, counter_keys
from mipsim.engine.row_blocks import by_blocks, rows_of_block
from mipsim.engine.row_reading import InseparableError
from mipsim.games.base import AbstractGame, AbstractMembershipGame, Round, lawful_round

BLOCK = 16384
"""Games at once where a game is a draw or two: enough to spread the cost of a call, few enough for the cache."""

_TOGETHER = 2**15  # numbers of the literal games that are played at once: 256 KiB stay in the cache
_OUTPUTS = 8  # of games that are played by blocks: how many are made and scored in one step
_COIN = 0xFFFFFFFF  # the Philox words of a game that are its coin


class AbstractSampler(eqx.Module):
    """Draws the scores of games, each from a stream that only (seed, stream, world, game) decides.

    Attributes:
        block: G, the number of games drawn by one call: a fixed function of the problem, so that one executable
            plays every run and floating-point sums never depend on the chunk.
        fidelity: "literal", "sufficient" or "projected".
        name: which sampler of that fidelity; both are recorded in the manifest.
    """

    fidelity: ClassVar[str]
    name: ClassVar[str]
    block: int = eqx.field(static=True)

    @property
    def any_block(self) -> bool:
        """Whether scores have the same bits in a block of any size.

        Only where sums are of whole numbers: XLA compiles float64 arithmetic otherwise for another size, and its last bits with it.
        """
        return False

    @property
    def together(self) -> int:
        """How many games of a block are in memory at once."""
        return self.block

    @property
    def numbers(self) -> int:
        """About how many float64 numbers an accelerator holds for one game."""
        return 1

    @abstractmethod
    def scores(self, draws: Draws) -> Float[Array, " G"]:
        """Scores (float64) of the games: shape (G,), or (G, columns) where each game has several."""

    def nan_outputs(self, seed: int, stream: int, games: range) -> int:
        """Play these games again, in both worlds, and count the outputs that hold NaN: is it the mechanism's fault that a score is NaN?

        0 where the score is drawn from its law, or the output from a law that has no NaN.
        """
        return 0


def block_games(numbers_per_game: int, budget: int, most: int) -> int:
    """The largest power of two G in [1, most] with G x numbers_per_game <= budget.

    Examples:
        >>> block_games(5_000, budget=2**20, most=1024), block_games(5_000_000, budget=2**20, most=1024)
        (128, 1)
    """
    fits = max(1, min(most, budget // max(1, numbers_per_game)))
    return 1 << (fits.bit_length() - 1)


def game_keys(draws: Draws) -> Array:
    """One typed key for each game; 64-bit game numbers enter as two words."""
    base = jax.random.fold_in(jax.random.wrap_key_data(draws.seed, impl="threefry2x32"), draws.place)
    low, high = halves(draws.games)
    return jax.vmap(lambda h, w: jax.random.fold_in(jax.random.fold_in(base, h), w))(high, low)


class AbstractRounds(AbstractSampler):
    """Plays round after round of a game, each with a key of its own, and scores what is released."""

    game: AbstractGame
    attack: AbstractAttack

    @abstractmethod
    def round(self) -> Round:
        """What plays one round."""

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        play, member = self.round(), draws.world == 1

        def score(key: Array) -> Float[Array, ""]:
            return jnp.asarray(self.attack.score(*play(key, member))).astype(jnp.float64)

        return self.each(score, draws)

    def each(self, one: Callable[[Array], Array], draws: Draws) -> Array:
        """What the function finds for the key of every game, shape (G, ...)."""
        return jax.vmap(one)(game_keys(draws))

    def nan_outputs(self, seed: int, stream: int, games: range) -> int:
        with exact_scope():
            run, size, found = run_draws(seed, stream), self.block, 0
            for first in range(games.start - games.start % size, games.stop, size):
                numbers = np.arange(first, first + size, dtype=np.uint64)
                own = (numbers >= games.start) & (numbers < games.stop)
                for world in (0, 1):
                    draws = run._replace(world=jnp.asarray(world), games=jnp.asarray(numbers))
                    found += int((np.asarray(_has_nan(self, draws)) & own).sum())
        return found


@eqx.filter_jit
def _has_nan(rounds: AbstractRounds, draws: Draws) -> Bool[Array, " G"]:
    play, member = rounds.round(), draws.world == 1

    def is_nan(key: Array) -> Array:
        leaves = jax.tree.leaves(play(key, member)[1])
        return jnp.any(jnp.stack([jnp.any(jnp.isnan(jnp.asarray(leaf, float))) for leaf in leaves]))

    return rounds.each(is_nan, draws)


class LiteralSampler(AbstractRounds):
    """Plays every game with its n records: the meaning of the game, against which the others are tested.

    A round that only adds up over its records is played a block of them at a time on a CPU, any other with all of them at once.
    """

    fidelity: ClassVar[str] = "literal"
    name: ClassVar[str] = "every record, two events a word"

    def round(self) -> Round:
        return self.game.play

    @property
    def numbers(self) -> int:
        return self.game.numbers

    @property
    def together(self) -> int:
        return block_games(self.game.numbers, budget=_TOGETHER, most=self.block)

    @property
    def is_separable(self) -> bool:
        """Whether a game is played a block of records at a time, so that there need not be memory for all of them."""
        play = self.round()
        with exact_scope(), suppress(InseparableError):
            out = jnp.zeros((), bool)
            in_blocks = self._by_blocks(lambda key: jnp.asarray(self.attack.score(*play(key, out))))
            return (
                in_blocks is not None
                and jax.eval_shape(in_blocks, jax.random.key(0, impl=COUNTER)) is not None
            )
        return False

    def _by_blocks(self, one: Callable[[Array], Array]) -> Callable[[Array], Array] | None:
        if not isinstance(self.game, AbstractMembershipGame):
            return None
        rows, width = self.game.n, self.game.data.dimension
        height = rows_of_block(rows, width)
        return by_blocks(one, rows, height) if height < rows else None

    def each(self, one: Callable[[Array], Array], draws: Draws) -> Array:
        all_at_once = jax.vmap(one)

        def on_a_core(keys: Array) -> Array:
            if (in_blocks := self._by_blocks(one)) is not None:
                with suppress(InseparableError):
                    return jax.lax.map(in_blocks, keys, batch_size=_OUTPUTS)
            few = self.together < self.block
            return (
                jax.lax.map(one, keys, batch_size=self.together if self.together > 1 else None)
                if few
                else all_at_once(keys)
            )

        def play(keys: Array) -> Array:
            # An accelerator wants much work in one step rather than little memory.
            return jax.lax.platform_dependent(keys, cpu=on_a_core, default=all_at_once)

        try:
            return play(counter_keys(draws))
        except (NotImplementedError, TypeError, ValueError):
            # Some of JAX's samplers, such as that of Poisson numbers, know its own generator only.
            return play(game_keys(draws))


class LawSampler(AbstractRounds):
    """Draws every output from its exact law, without its records; `law_sampler` makes one."""

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "law"

    @property
    def numbers(self) -> int:
        assert isinstance(self.game, AbstractMembershipGame)
        return 8 * self.game.data.dimension

    def round(self) -> Round:
        play = lawful_round(self.game)
        assert play is not None  # the builder has seen to it
        return play


def law_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> LawSampler:
    """The sampler of the output's exact law, which the game must have. Must be called inside `exact_scope`.

    The number of records is an array, so that one executable serves all; not where a mechanism of the user's own needs it as a
    Python number.

    Examples:
        >>> import mipsim as mi
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3]), n=9, target=[1.0])
        >>> with exact_scope():
        ...     law_sampler(game, mi.ScalarProduct([0.0])).game.n
        array(9)
    """

    def play(n: Array) -> Any:
        one = lawful_round(eqx.tree_at(lambda g: g.n, game, n))
        assert one is not None
        return one(fixed_key(0), jnp.asarray(True))

    try:
        jax.eval_shape(play, np.int64(game.n))
        game = with_traced_sizes(game, np.int64)
    except (TypeError, ValueError):  # what JAX raises where a number is wanted, or NumPy
        pass
    block = block_games(game.data.dimension, budget=2**18, most=4096)
    return LawSampler(game=game, attack=attack, block=block)


class Coin(eqx.Module):
    """Whether the target, if a member, is among the rows.

    Attributes:
        inclusion: the probability that it is.
        is_sure: whether that is 1, so that no coin is thrown.
    """

    inclusion: Float[Array, ""]
    is_sure: bool = eqx.field(static=True)

    def __init__(self, inclusion: float) -> None:
        self.inclusion, self.is_sure = jnp.asarray(inclusion), inclusion == 1.0

    def side(self, draws: Draws) -> Int[Array, "..."]:
        """1 for games with the target among the rows: all of world 1, or those whose coin says so."""
        if self.is_sure:
            return draws.world  # pyright: ignore[reportReturnType]
        high, low, *_ = words_of(draws)(_COIN)
        return jnp.where(uniform(long_word(high, low)) < self.inclusion, draws.world, 0)


def by_keys(draw: Callable[[PRNGKeyArray], Array], seeds: UInt64[Array, " G"]) -> Float[Array, "d G"]:
    """Draw one vector a game with JAX's own samplers, each from a key of the game's word."""
    parts = jnp.stack([seeds >> jnp.uint64(32), seeds & jnp.uint64(0xFFFFFFFF)], axis=1)
    keys = jax.random.wrap_key_data(parts.astype(jnp.uint32), impl="threefry2x32")
    return jax.vmap(draw, out_axes=1)(keys)
