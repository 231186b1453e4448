"""The exact log-likelihood ratio, wherever the law of the release is tractable."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import finite_vector
from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack
from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.gaussian import Gaussian
from mipsim.games.fixed_target import as_mechanism
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.mean import EmpiricalMean
from mipsim.mechanisms.noise import GaussianNoise
from mipsim.mechanisms.subsample import Subsampled


class LikelihoodRatio(AbstractAdditiveAttack):
    """log p_in(output | z) - log p_out(output | z) of a mean, exact.

    Tractable are: the empirical mean of Bernoulli, Gaussian (diagonal) and exponential data; the Gaussian-noise mean of
    Gaussian data; and a sub-sample of each, whose H1 law is the mixture rho P_in + (1 - rho) P_out of *joint* laws.
    For Gaussian data with a full covariance use `GaussianLikelihoodRatio`.

    Args:
        mechanism: the mechanism of the game.
        data: the law of one record.
        n: the number of records of the game.
        target: the point the attack is aimed at, shape (d,); None = the target of each game.

    Raises:
        ValueError: where the law is not tractable; the message says what is.

    Source: Neyman & Pearson (1933); Azize & Basu (2025), equations 1 and 11.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> attack = LikelihoodRatio(mi.EmpiricalMean(), mi.Bernoulli([0.5]), n=10)
        >>> print(attack.score(np.ones(1), np.array([0.8])).round(4), np.log(0.8 / 0.5).round(4))
        0.47 0.47
    """

    data: AbstractDistribution
    aim: np.ndarray | None
    noise_variance: np.ndarray
    rows: int = eqx.field(static=True)
    rho: float = eqx.field(static=True)

    def __init__(
        self,
        mechanism: AbstractMechanism | Callable[..., Any],
        data: AbstractDistribution,
        n: int,
        target: object = None,
    ) -> None:
        mechanism = as_mechanism(mechanism)
        self.rows = mechanism.rows(n)
        self.rho = mechanism.rho if isinstance(mechanism, Subsampled) else 1.0
        inner = mechanism.base if isinstance(mechanism, Subsampled) else mechanism
        gamma = inner.gamma if isinstance(inner, GaussianNoise) else np.zeros(())
        mean = inner.base if isinstance(inner, GaussianNoise) else inner
        noisy = bool(np.any(np.asarray(gamma) > 0))
        if not (data.has_sum_ratio and isinstance(mean, EmpiricalMean)) or (noisy and not isinstance(data, Gaussian)):
            raise ValueError(
                f"the likelihood ratio of {_spell(mechanism)} of {type(data).__name__} data is not tractable here; it is "
                "for EmpiricalMean of Bernoulli, diagonal Gaussian or Exponential data, for GaussianNoise(EmpiricalMean) "
                "of diagonal Gaussian data, and for Subsampled of these"
            )
        self.data = data
        self.noise_variance = np.broadcast_to(np.asarray(gamma, float) ** 2, (data.dimension,)).copy()
        self.aim = None if target is None else finite_vector("target", target, data.dimension)

    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        """Log ratio of each coordinate given that the target is among the rows."""
        aim = target if self.aim is None else self.aim
        return self.data.log_sum_ratio(output * self.rows, self.rows, aim, self.noise_variance)

    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        """log((1 - rho) + rho exp(total)): the target was drawn with probability rho."""
        if self.rho == 1.0:
            return total
        return jnp.logaddexp(jnp.log1p(-self.rho), jnp.log(self.rho) + total)


class GaussianLikelihoodRatio(AbstractAttack):
    """The exact log-likelihood ratio of the mean of Gaussian data with any covariance.

    H0: N(mu, C/n); H1: N(mu + (z - mu)/n, C (n-1)/n^2).

    Args:
        data: a `Gaussian`, diagonal or full.
        n: the number of records.
        target: the point the attack is aimed at; None = the target of each game.

    Source: Azize & Basu (2025), equations 27 and 28.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> attack = GaussianLikelihoodRatio(mi.Gaussian(np.zeros(2), np.eye(2)), n=4)
        >>> print(attack.score(np.ones(2), np.ones(2) / 4).round(4))
        0.5377
    """

    mean: np.ndarray
    precision: np.ndarray
    aim: np.ndarray | None
    n: int = eqx.field(static=True)

    def __init__(self, data: Gaussian, n: int, target: object = None) -> None:
        self.n = EmpiricalMean().rows(n)
        if not isinstance(data, Gaussian):
            raise ValueError(f"data is {type(data).__name__}; it must be Gaussian")
        self.mean = data.mean
        covariance = data.covariance
        self.precision = np.diag(1 / covariance) if covariance.ndim == 1 else np.linalg.inv(covariance)
        self.aim = None if target is None else finite_vector("target", target, data.dimension)

    def score(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, ""]:
        """Difference of the two Gaussian log-densities."""
        aim = target if self.aim is None else self.aim
        n, d = self.n, self.mean.shape[0]
        out = output - self.mean
        inside = out - (aim - self.mean) / n
        square_out = n * jnp.dot(out, self.precision @ out)
        square_in = n**2 / (n - 1) * jnp.dot(inside, self.precision @ inside)
        return 0.5 * (square_out - square_in) - 0.5 * d * jnp.log1p(-1.0 / n)


def _spell(mechanism: AbstractMechanism) -> str:
    base = getattr(mechanism, "base", None)
    name = type(mechanism).__name__
    return name if base is None else f"{name}({_spell(base)})"
