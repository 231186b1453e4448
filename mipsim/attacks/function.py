"""A user's own attack, given as a plain JAX function."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from mipsim._pure import call_pure
from mipsim.attacks.base import AbstractAttack


class FunctionAttack(AbstractAttack):
    """An attack `function(target, output) -> scalar` that JAX can trace; higher = "in".

    Args:
        function: takes the target, shape (d,), and the output, of the mechanism's shape; returns a scalar.

    Examples:
        >>> import jax.numpy as jnp
        >>> attack = FunctionAttack(lambda target, output: jnp.dot(target, output))
        >>> print(attack.score(jnp.ones(2), jnp.ones(2)))
        2.0
    """

    function: Callable[[Array, Array], Array] = eqx.field(static=True)

    def __check_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"attack is {type(self.function).__name__}; it must be callable(target, output)")

    def score(self, target: Float[Array, " d"], output: Array) -> Float[Array, ""]:
        return call_pure("attack", self.function, target, output)


def as_attack(attack: AbstractAttack | Callable[..., Any]) -> AbstractAttack:
    """Wrap a plain function `(target, output) -> scalar` as an attack; pass an attack through."""
    if isinstance(attack, type):
        raise ValueError(f"attack is the class {attack.__name__}; it must be an attack: call the class")
    return attack if isinstance(attack, AbstractAttack) else FunctionAttack(attack)
