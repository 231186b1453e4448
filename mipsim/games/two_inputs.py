"""The game of two neighbouring inputs: which of them was the output released from?"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._precision import users_precision
from mipsim._validation import real_array
from mipsim.distributions.base import Member
from mipsim.games.base import AbstractGame
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_mechanism


class TwoInputs(AbstractGame):
    """Release from the input a ("out") or from the input b ("in"): differential privacy as a game.

    Whether a and b are neighbours is for who states the claim to say. The attacker knows both; b is the game's target.

    Args:
        mechanism: a function `(key, input) -> output` of an input of any shape, in JAX, or an `AbstractMechanism`. Outputs may have
            any shape: a vector of answers, an index, a stopping time.
        a: the input of the world "out", any shape of finite numbers. The mechanism is given what `jnp.asarray` makes of it in your own
            process: float32 for floats, int32 for whole numbers, unless you enable x64.
        b: the input of the world "in", of the same shape; of a and b the common type.

    Source: Wasserman & Zhou (2010), section 2.4; Dong, Roth, Su (2022), definition 2.1.

    Examples:
        >>> import jax
        >>> game = TwoInputs(lambda key, answers: answers + jax.random.laplace(key, answers.shape), [0.0, 1.0], [1.0, 1.0])
        >>> target, output = game.play(jax.random.key(0), True)
        >>> print(target, output.shape)
        [1. 1.] (2,)
        >>> TwoInputs(lambda key, answers: answers, [0.0], [0.0, 1.0])
        Traceback (most recent call last):
        ...
        ValueError: b has shape (2,); it must have the shape of a, (1,)
    """

    mechanism: AbstractMechanism
    a: np.ndarray
    b: np.ndarray

    def __init__(self, mechanism: AbstractMechanism | Callable[..., Any], a: object, b: object) -> None:
        self.mechanism = as_mechanism(mechanism)
        self.a, self.b = _input("a", a), _input("b", b)
        if self.b.shape != self.a.shape:
            raise ValueError(f"b has shape {self.b.shape}; it must have the shape of a, {self.a.shape}")

    @property
    def numbers(self) -> int:
        return max(1, self.a.size)

    def play(self, key: PRNGKeyArray, member: Member) -> tuple[Float[Array, "..."], Array]:
        if users_precision() == "float32":
            for name in ("a", "b"):
                _refuse_wide(name, getattr(self, name))
        entered = jnp.where(member, jnp.asarray(self.b), jnp.asarray(self.a))
        return jnp.asarray(self.b), self.mechanism.release(key, entered)


def _input(name: str, value: object) -> np.ndarray:
    """The numbers in their own type."""
    checked, given = real_array(name, value, coins=True), np.asarray(value)
    return given.copy() if given.dtype.kind in "biuf" and given.dtype.itemsize <= 8 else checked


def _refuse_wide(name: str, value: object) -> None:
    """Refuse whole numbers that JAX would wrap around where it has no int64."""
    if isinstance(value, np.ndarray) and value.dtype in (np.int64, np.uint64) and value.size:
        kind = np.iinfo(np.int32 if value.dtype == np.int64 else np.uint32)
        if value.min() < kind.min or value.max() > kind.max:
            raise ValueError(
                f"{name} holds {value[np.unravel_index(np.argmax(np.abs(value)), value.shape)]}, which is no {kind.dtype}: give floats, or precision='float64'"
            )
