"""A user's own attack, given as a plain JAX function."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from mipsim._pure import call_pure, takes
from mipsim._validation import choice, member
from mipsim.attacks.base import AbstractAttack


class FunctionAttack(AbstractAttack):
    """An attack `function(target, output) -> scalar` that JAX can trace; higher = "in".

    An exact law needs to know that the score is a polynomial of degree at most 2 in the output. That is read from its operations:
    sums, products, scalar and matrix products, squares, quotients by what does not depend on the output. Where others are used,
    `declared` says it. A law and a verdict that rest on that say "assumed", as does a law of a score that games compute in float32:
    laws are in real arithmetic.

    Args:
        function: takes the target, shape (d,), and the output, of the mechanism's shape; returns a scalar.
        declared: "linear" or "quadratic" in the output, at every target; None to have it read from the operations.

    Examples:
        >>> import jax.numpy as jnp, mipsim as mi
        >>> attack = FunctionAttack(lambda target, output: jnp.dot(target, output))
        >>> print(attack.score(jnp.ones(2), jnp.ones(2)))
        2.0
        >>> data = mi.Gaussian(0.0, 1.0, d=2)
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 2.0])
        >>> game.exact(mi.FunctionAttack(lambda t, o: -jnp.linalg.norm(o - t) ** 2, declared="quadratic")).assumed
        'the score is quadratic, as declared, and in real arithmetic'
    """

    function: Callable[[Array, Array], Array] = eqx.field(static=True)
    declared: str | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        if self.declared is not None:
            choice("declared", self.declared, ("linear", "quadratic"))
        member("function", self.function, Callable, "callable(target, output)")
        takes("attack", self.function, ("target", "output"))

    def score(self, target: Float[Array, " d"], output: Array) -> Float[Array, ""]:
        return call_pure("attack", self.function, target, output)


def as_attack(attack: AbstractAttack | Callable[..., Any]) -> AbstractAttack:
    """Wrap a plain function `(target, output) -> scalar` as an attack; pass an attack through."""
    member("attack", attack, (AbstractAttack, Callable), "an attack, or callable(target, output)")
    return attack if isinstance(attack, AbstractAttack) else FunctionAttack(attack)
