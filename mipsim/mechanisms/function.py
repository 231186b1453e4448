"""A user's own mechanism, given as a plain JAX function."""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._pure import call_pure, takes
from mipsim._validation import member, sample_size
from mipsim.mechanisms.base import AbstractMechanism


class FunctionMechanism(AbstractMechanism):
    """A mechanism `function(key, records) -> output` that JAX can trace; always played literally.

    It is traced once, and the trace plays every game: randomness comes from the key alone (`jax.random`). A function that
    draws otherwise, or keeps what it is given, is refused when it is traced. It runs in the precision of your own process, as
    `precision` of `mipsim.play` says.

    Args:
        function: takes a typed random key and records of shape (n, d); returns an array
            of any shape.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> median = FunctionMechanism(lambda key, records: jnp.median(records, axis=0))
        >>> print(median.release(jax.random.key(0), jnp.array([[1.0], [2.0], [5.0]])))
        [2.]
    """

    function: Callable[[PRNGKeyArray, Array], Array] = eqx.field(static=True)

    def __check_init__(self) -> None:
        member("function", self.function, Callable, "callable(key, records)")
        takes("mechanism", self.function, ("key", "records"))

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        return call_pure("mechanism", self.function, key, records)

    def rows(self, n: int) -> int:
        return sample_size(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return None


def as_mechanism(
    mechanism: AbstractMechanism | Callable[..., Any], name: str = "mechanism"
) -> AbstractMechanism:
    """Wrap a plain function `(key, records) -> output` as a mechanism; pass a mechanism through."""
    member(name, mechanism, (AbstractMechanism, Callable), "a mechanism, or callable(key, records)")
    return mechanism if isinstance(mechanism, AbstractMechanism) else FunctionMechanism(mechanism)


as_base = partial(as_mechanism, name="base")
"""The same for the mechanism that another is built on."""
