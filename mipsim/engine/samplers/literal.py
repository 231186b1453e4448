"""Games played round by round: with every record, which is their meaning, or with outputs sampled from their exact distribution."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from mipsim._family import is_users, runs_users_code, with_traced_sizes
from mipsim._precision import exact_scope, fixed_key, users_precision
from mipsim.attacks.base import AbstractAttack
from mipsim.engine.random.counter import GameDraws, run_draws
from mipsim.engine.random.keys import COUNTER, counter_keys
from mipsim.engine.row_blocks import by_blocks, rows_of_block
from mipsim.engine.row_reading import InseparableError
from mipsim.engine.samplers.base import AbstractSampler, block_games, game_keys
from mipsim.games.base import AbstractGame, AbstractMembershipGame, Round

_TOGETHER = 2**15  # numbers of the literal games that are played at once: 256 KiB stay in the cache
# numbers of games that a mechanism plays in turn: a matrix that scores all of them is read once
_RETAINED = 2**20
_OUTPUTS = 8  # of games that are played by blocks: how many are made and scored in a single step


class AbstractRounds(AbstractSampler):
    """Plays round after round of a game, each with a key of its own, and scores what is released."""

    game: AbstractGame
    attack: AbstractAttack

    @abstractmethod
    def round(self) -> Round:
        """What plays a round."""

    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        play, member = self.round(), draws.world == 1

        def score(key: Array) -> Float[Array, ""]:
            return jnp.asarray(self.attack.score(*play(key, member))).astype(jnp.float64)

        return self.each(score, draws)

    def each(self, single_game: Callable[[Array], Array], draws: GameDraws) -> Array:
        """What the function finds for the key of every game, shape (G, ...)."""
        return jax.vmap(single_game)(game_keys(draws))

    def nan_outputs(self, seed: int, stream: int, games: range) -> int:
        with exact_scope():
            run, size, result = run_draws(seed, stream), self.block, 0
            for first in range(games.start - games.start % size, games.stop, size):
                numbers = np.arange(first, first + size, dtype=np.uint64)
                own = (numbers >= games.start) & (numbers < games.stop)
                for world in (0, 1):
                    draws = run._replace(world=jnp.asarray(world), games=jnp.asarray(numbers))
                    result += int((np.asarray(_has_nan(self, draws)) & own).sum())
        return result


@eqx.filter_jit
def _has_nan(rounds: AbstractRounds, draws: GameDraws) -> Bool[Array, " G"]:
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
    name: ClassVar[str] = "literal"

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

    def _by_blocks(self, single_game: Callable[[Array], Array]) -> Callable[[Array], Array] | None:
        # In blocks the rows are added up in another order, which float32 shows.
        literally = users_precision() == "float32" and (
            is_users(type(self.game)) or runs_users_code(self.game.mechanism)
        )
        if literally or not isinstance(self.game, AbstractMembershipGame):
            return None
        rows, width = self.game.n, self.game.data.dimension
        height = rows_of_block(rows, width)
        return by_blocks(single_game, rows, height) if height < rows else None

    def each(self, single_game: Callable[[Array], Array], draws: GameDraws) -> Array:
        all_at_once = jax.vmap(single_game)

        def on_a_core(keys: Array) -> Array:
            if (in_blocks := self._by_blocks(single_game)) is not None:
                with suppress(InseparableError):
                    return jax.lax.map(in_blocks, keys, batch_size=_OUTPUTS)
            few = self.together < self.block and _retained(self.game) is None
            return (
                jax.lax.map(single_game, keys, batch_size=self.together if self.together > 1 else None)
                if few
                else all_at_once(keys)
            )

        def play(keys: Array) -> Array:
            # An accelerator wants much work in each step rather than little memory.
            return jax.lax.platform_dependent(keys, cpu=on_a_core, default=all_at_once)

        try:
            return play(counter_keys(draws))
        except (NotImplementedError, TypeError, ValueError):
            # Some of JAX's samplers, such as that of Poisson numbers, know its own generator only.
            return play(game_keys(draws))


def literal_sampler(game: AbstractGame, attack: AbstractAttack) -> LiteralSampler:
    """The literal sampler with the block that suits the game."""
    retained = _retained(game)
    numbers, budget = (game.numbers, 2**21) if retained is None else (retained, _RETAINED)
    return LiteralSampler(game=game, attack=attack, block=block_games(numbers, budget, most=1024))


def _retained(game: AbstractGame) -> int | None:
    return game.mechanism.numbers_retained(game.n) if isinstance(game, AbstractMembershipGame) else None


class LawSampler(AbstractRounds):
    """Draws every output from its exact law, without its records; see `law_sampler`."""

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "exact draw"
    draws_outputs: ClassVar[bool] = True

    @property
    def numbers(self) -> int:
        assert isinstance(self.game, AbstractMembershipGame)
        return 8 * self.game.data.dimension

    def round(self) -> Round:
        play = self.game.exact_round()
        assert play is not None  # the builder has seen to it
        return play


def law_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> LawSampler:
    """The sampler of the output's exact law, which the game must have. Must be called inside `exact_scope`.

    The number of records is an array, so that an executable serves all; not where a mechanism of the user's own needs it as a
    Python number.
    """

    def play(n: Array) -> Any:
        item = eqx.tree_at(lambda g: g.n, game, n).exact_round()
        assert item is not None
        return item(fixed_key(0), jnp.asarray(True))

    try:
        jax.eval_shape(play, np.int64(game.n))
        game = with_traced_sizes(game, np.int64)
    except (TypeError, ValueError):  # what JAX raises where a number is wanted, or NumPy
        pass
    block = block_games(game.data.dimension, budget=2**18, most=4096)
    return LawSampler(game=game, attack=attack, block=block)
