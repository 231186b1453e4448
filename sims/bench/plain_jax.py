"""What a user of plain JAX would write: a function of a game's key, mapped over keys of JAX's default kind, in its default precision."""

from collections.abc import Callable

import jax
from jax import Array

from sims.bench.contest import Way


def jax_rows(play: Callable[[Array], Array], times: int, name: str = "JAX literal rows, default keys") -> Way:
    """A way that plays games in sequence, compiled once: `times` of them by a single call.
    `play`: a single game, a function of a key to its score; `times`: how many are played in a repeat.
    """

    @jax.jit
    def several(key: Array) -> Array:
        return jax.lax.map(play, jax.random.split(key, times))

    def work(games: int) -> int:
        del games  # always as many as are compiled
        several(jax.random.key(0)).block_until_ready()
        return times

    return Way(name, work, times)
