"""Shadow models: trainings that an attacker makes for comparison."""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from mipsim._memory import fits_memory, on_a_device
from mipsim._precision import exact_scope, fixed_key
from mipsim._signals import interruptible
from mipsim._validation import flag, member, whole
from mipsim.engine.counting import on_device
from mipsim.engine.recipe import check_game
from mipsim.games.base import AbstractGame
from mipsim.nn.descent import Descent

_SHADOWS = 0x5348
"""Sets the random numbers of shadow models apart from those of every run."""
_TOGETHER = 8
"""Models trained by a single call: enough to spread its cost, few enough for the memory of a larger network."""


@interruptible
def shadow_models(
    game: AbstractGame, count: int, *, member: bool = False, seed: int = 0
) -> Float[np.ndarray, "count D"]:
    """Train models as a game trains them, on fresh records: what an attacker who knows the game can do.

    Args:
        game: a game on a `Descent` that releases "parameters".
        count: how many models, >= 2.
        member: whether the target is among the records of each, for online attacks; a game with a fixed target then.
        seed: of these models, a whole number in [0, 2^63).

    Returns:
        Their parameters after the last step, float32, a row for each model.

    Raises:
        ValueError: naming the argument; or if a model's parameters are not finite.

    Source: Shokri et al. (2017), "Membership inference attacks against machine learning models".

    Examples:
        >>> import mipsim as mi
        >>> from mipsim.nn import Descent, linear
        >>> x = np.arange(8.0)[:, None]
        >>> descent = Descent(network := linear((1,), 2), network.start(0), x, x[:, 0] > 3, batch=4, steps=9, rate=0.1, releases="parameters")
        >>> shadow_models(mi.RandomTarget(descent, descent.records(), n=4), 3).shape
        (3, 4)
    """
    descent = checked_descent(getattr(check_game(game), "mechanism", None))
    count, seed = whole("count", count, 2, 2**31), whole("seed", seed, 0)
    fits_memory(count * descent.network.dimension(), count=count)
    if flag("member", member) and not hasattr(game, "target"):
        raise ValueError(
            "member is True; models with the target among their records need a game with a fixed target"
        )
    with exact_scope():
        key = jax.random.fold_in(jax.random.fold_in(fixed_key(seed), _SHADOWS), int(member))
        keys = jax.random.split(key, -(-count // _TOGETHER) * _TOGETHER).reshape(-1, _TOGETHER)
        placed = on_device(game)
        with on_a_device(f"game: a block of {_TOGETHER} trainings"):
            result = np.concatenate([np.asarray(_trained(placed, own, member)) for own in keys])[:count]
    if not np.isfinite(result).all():
        raise ValueError(
            "game trains models whose parameters are not finite: give a smaller rate, or scale x"
        )
    return result


@partial(eqx.filter_jit)
def _trained(game: AbstractGame, keys: Any, member: bool) -> Any:
    return jax.lax.map(lambda key: game.play(key, member)[1], keys)


def checked_descent(descent: object, releases: str = "parameters") -> Descent:
    """Return `descent` if it releases the parameters after its last step, or "steps"."""
    result = member("descent", descent, Descent, f"a Descent that releases {releases!r}")
    if result.releases != releases:
        raise ValueError(f"descent releases {result.releases!r}; it must release {releases!r}")
    return result
