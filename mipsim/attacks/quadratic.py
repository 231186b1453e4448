"""Attacks that see an output only through its distance from a point."""

from abc import abstractmethod

import jax.numpy as jnp
from jaxtyping import Array, Float

from mipsim.attacks.base import AbstractAttack


class AbstractQuadraticAttack(AbstractAttack):
    """An attack whose score is a function of (output - centre)' metric (output - centre).

    Declaring the centre and the metric is all that the engine needs: where the metric is a multiple of the inverse
    covariance of a Gaussian output, the quadratic form is a multiple of (Z + sqrt(lambda))^2 + chi2_{d-1}, and a
    game is these two draws ("projected" fidelity).

    Source: standard; for Gaussian data the likelihood ratio of a mean has this form.

    Examples:
        >>> class Near(AbstractQuadraticAttack):
        ...     def centre(self, target):
        ...         return target
        ...
        ...     def metric(self, target):
        ...         return jnp.ones_like(target)
        ...
        ...     def value(self, target, square):
        ...         return -square
        >>> print(Near().score(jnp.ones(2), jnp.zeros(2)))
        -2.0
    """

    @abstractmethod
    def centre(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        """The point from which the distance of the output is taken, shape (d,), in units of the output."""

    @abstractmethod
    def metric(self, target: Float[Array, " d"]) -> Float[Array, "..."]:
        """Weights >= 0 of the squared differences, shape (d,), or a symmetric matrix, shape (d, d)."""

    @abstractmethod
    def value(self, target: Float[Array, " d"], square: Float[Array, ""]) -> Float[Array, ""]:
        """The score, given the squared distance in the metric."""

    def score(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, ""]:
        difference, metric = output - self.centre(target), self.metric(target)
        pulled = metric * difference if metric.ndim == 1 else metric @ difference
        return self.value(target, jnp.sum(difference * pulled))
