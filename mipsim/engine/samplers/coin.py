"""Whether the target is among the rows of a release: sure, or by a game's own coin."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from mipsim.engine.random.counter import Draws, long_word, uniform, words_of

BLOCK = 16384
"""Games at once where a game is a draw or two: enough to spread the cost of a call, few enough for the cache."""

_COIN = 0xFFFFFFFF
"""The Philox words of a game that are its coin."""


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
