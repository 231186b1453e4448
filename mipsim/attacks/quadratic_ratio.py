"""The log-likelihood ratio of a Gaussian mean, written as a quadratic form."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim.attacks.base import aimed_at
from mipsim.attacks.quadratic import AbstractQuadraticAttack


class QuadraticRatio(AbstractQuadraticAttack):
    """log N(s; n mu + t, o - v) - log N(s; n mu, o), summed over coordinates, of s = n output and t = z - mu.

    With c = v / o, completing the square gives
    (sum t^2 / v - sum (s - n mu - t / c)^2 v / (o (o - v)) - sum log(1 - c)) / 2;
    sub-sampling with probability rho makes of it log((1 - rho) + rho exp(.)).

    Args:
        mean: mu, shape (d,).
        variance: v, of one record, shape (d,).
        noise_variance: of Gaussian noise per row, shape (d,): o = n (v + noise_variance).
        n: rows summed.
        rho: the probability that the target is among them, in (0, 1].
        aim: the point the attack is aimed at, or None for the target of each game.

    Source: Azize & Basu (2025), equations 27 and 28, for independent coordinates.

    Examples:
        >>> import mipsim as mi
        >>> ratio = QuadraticRatio(np.zeros(1), np.ones(1), np.zeros(1), n=4, rho=1.0, aim=None)
        >>> direct = mi.LikelihoodRatio(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0), n=4)
        >>> [round(float(a.score(np.ones(1), np.array([0.5]))), 4) for a in (ratio, direct)]
        [0.4772, 0.4772]
    """

    mean: np.ndarray
    variance: np.ndarray
    noise_variance: np.ndarray
    n: int = eqx.field(static=True)
    rho: float = eqx.field(static=True)
    aim: np.ndarray | None

    def centre(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        """Mu + (z - mu) (v + noise variance) / v, shape (d,); without noise the target itself."""
        aim = aimed_at(self.aim, target, self.mean.shape[0])
        return (
            jnp.asarray(self.mean) + (aim - self.mean) * (self.variance + self.noise_variance) / self.variance
        )

    def metric(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        """n^2 v / (o (o - v)), shape (d,)."""
        total = self.n * (self.variance + self.noise_variance)
        return jnp.asarray(self.n**2 * self.variance / (total * (total - self.variance)))

    def value(self, target: Float[Array, " d"], square: Float[Array, ""]) -> Float[Array, ""]:
        aim = aimed_at(self.aim, target, self.mean.shape[0])
        share = self.variance / (self.n * (self.variance + self.noise_variance))
        constant = jnp.sum((aim - self.mean) ** 2 / self.variance) - jnp.sum(jnp.log1p(-share))
        total = 0.5 * (constant - square)
        if self.rho == 1.0:
            return total
        return jnp.logaddexp(jnp.log1p(-self.rho), jnp.log(self.rho) + total)
