"""The exact log-likelihood ratio, wherever the law of the release is tractable."""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import finite_vector, member, noise_scale, positive_definite_factor
from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAdditiveAttack, aimed_at
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.gaussian import Gaussian
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_mechanism
from mipsim.mechanisms.mean import EmpiricalMean


class QuadraticRatio(AbstractQuadraticAttack):
    """log N(s; n mu + t, o - v) - log N(s; n mu, o), summed over coordinates, of s = n output and t = z - mu.

    With c = v / o, completing the square gives
    (sum t^2 / v - sum (s - n mu - t / c)^2 v / (o (o - v)) - sum log(1 - c)) / 2;
    sub-sampling with probability inclusion makes of it log((1 - inclusion) + inclusion exp(.)).

    Source: Azize & Basu (2025), equations 27 and 28, for independent coordinates.

    >>> import mipsim as mi
    >>> ratio = QuadraticRatio(np.zeros(1), np.ones(1), np.zeros(1), n=4, inclusion=1.0, aim=None)
    >>> direct = mi.LikelihoodRatio(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0), n=4)
    >>> [round(float(a.score(np.ones(1), np.array([0.5]))), 4) for a in (ratio, direct)]
    [0.4772, 0.4772]
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    mean: np.ndarray  # mu, shape (d,)
    variance: np.ndarray  # v, of a record, shape (d,)
    noise_variance: np.ndarray  # of Gaussian noise per row, shape (d,): o = n (v + noise_variance)
    n: int  # rows summed
    inclusion: float = eqx.field(static=True)  # the probability that the target is among them, in (0, 1]
    aim: np.ndarray | None  # the point the attack is aimed at, or None for the target of each game

    def centre(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        """The point mu + (z - mu) (v + noise variance) / v, shape (d,); without noise the target itself."""
        aim, total = aimed_at(self.aim, target, self.mean.shape[0]), self.variance + self.noise_variance
        return jnp.asarray(self.mean) + (aim - self.mean) * total / self.variance

    def metric(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        """n^2 v / (o (o - v)), shape (d,)."""
        total = self.n * (self.variance + self.noise_variance)
        return jnp.asarray(self.n**2 * self.variance / (total * (total - self.variance)))

    def value(self, target: Float[Array, " d"], square: Float[Array, ""]) -> Float[Array, ""]:
        aim = aimed_at(self.aim, target, self.mean.shape[0])
        share = self.variance / (self.n * (self.variance + self.noise_variance))
        constant = jnp.sum((aim - self.mean) ** 2 / self.variance) - jnp.sum(jnp.log1p(-share))
        total = 0.5 * (constant - square)
        if self.inclusion == 1.0:
            return total
        return jnp.logaddexp(jnp.log1p(-self.inclusion), jnp.log(self.inclusion) + total)


class LikelihoodRatio(AbstractAdditiveAttack):
    """log p_in(output | z) - log p_out(output | z) of a mean, exact.

    Tractable are: the empirical mean of Bernoulli, Gaussian (diagonal) and exponential data; the
    Gaussian-noise mean of Gaussian data; and a sub-sample of each, whose H1 law is the mixture
    inclusion P_in + (1 - inclusion) P_out of *joint* laws.
    For Gaussian data with a full covariance use `GaussianLikelihoodRatio`.

    Args:
        mechanism: the mechanism of the game.
        data: the law of a record.
        n: the number of records of the game.
        target: the point the attack is aimed at, shape (d,); None = the target of each game.

    Raises:
        ValueError: where the law is not tractable (the message says what is), or the target is outside the
            support.

    Source: Neyman & Pearson (1933); Azize & Basu (2025), equations 1 and 11.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> attack = LikelihoodRatio(mi.EmpiricalMean(), mi.Bernoulli([0.5]), n=10)
        >>> print(attack.score(np.ones(1), np.array([0.8])).round(4), np.log(0.8 / 0.5).round(4))
        0.47 0.47
    """

    SIZES: ClassVar[tuple[str, ...]] = ("rows",)

    data: AbstractDistribution
    aim: np.ndarray | None
    noise_variance: np.ndarray
    rows: int
    inclusion: float = eqx.field(static=True)

    def __init__(
        self,
        mechanism: AbstractMechanism | Callable[..., Any],
        data: AbstractDistribution,
        n: int,
        target: object = None,
    ) -> None:
        mechanism = as_mechanism(mechanism)
        member("data", data, AbstractDistribution, "a distribution")
        mechanism.rows(n)
        release = mechanism.mean_of_rows(n) if data.sum_ratio() is not None else None
        noisy = release is not None and release.has_gaussian_noise
        if release is None or not release.is_plain or (noisy and not isinstance(data, Gaussian)):
            raise ValueError(
                f"the likelihood ratio of {_spell(mechanism)} on {kind_of(data)} data is intractable; it is for "
                "EmpiricalMean of Bernoulli, Exponential or (also noisy) diagonal Gaussian data"
            )
        self.data = data
        self.rows, self.inclusion = release.rows, release.inclusion
        # of each row, so that the sum has it rows times
        noise_variance = noise_scale("record_deviation", release.variance * release.rows, data.dimension)
        self.noise_variance = np.broadcast_to(noise_variance, (data.dimension,)).copy()
        self.aim = None if target is None else finite_vector("target", target, data.dimension)
        if self.aim is not None and not data.in_support(self.aim):
            raise ValueError(
                f"target is outside the support of {kind_of(data)} data, so that with it in the output "
                "is impossible without it; give a point of the support"
            )

    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        """Log ratio of each coordinate given that the target is among the rows."""
        aim = aimed_at(self.aim, target, self.noise_variance.shape[0])
        ratio = self.data.sum_ratio()
        assert ratio is not None
        return ratio(output * self.rows, self.rows, aim, jnp.asarray(self.noise_variance))

    def offsets(self, target: np.ndarray) -> np.ndarray | None:
        return np.zeros_like(target) if self.aim is None else None  # the link does not look at the target

    def as_quadratic(self) -> QuadraticRatio | None:
        """The same score as a quadratic form in the output, where the data are Gaussian; None for other data."""
        if not isinstance(self.data, Gaussian):
            return None
        parts = self.data.mean, self.data.cov, self.noise_variance
        return QuadraticRatio(*parts, self.rows, self.inclusion, self.aim)

    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        """log((1 - inclusion) + inclusion exp(total)): the target was sampled with that probability."""
        if self.inclusion == 1.0:
            return total
        return jnp.logaddexp(jnp.log1p(-self.inclusion), jnp.log(self.inclusion) + total)


class GaussianLikelihoodRatio(AbstractQuadraticAttack):
    """The exact log-likelihood ratio of the mean of Gaussian data with any covariance.

    H0: N(mu, Sigma/n); H1: N(mu + (z - mu)/n, Sigma (n-1)/n^2). Completing the square, with |x|^2 = x' Sigma^-1 x, the ratio is
    (|z - mu|^2 - n/(n-1) |output - z|^2 - d log(1 - 1/n)) / 2: it sees the output's distance from the target only.

    Args:
        data: a `Gaussian` of dimension d whose covariance, diagonal or full, is positive definite.
        n: the number of records, >= 2.
        target: the point the attack is aimed at, shape (d,); None = the target of each game.

    Source: Azize & Basu (2025), equations 27 and 28.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> attack = GaussianLikelihoodRatio(mi.Gaussian(np.zeros(2), np.eye(2)), n=4)
        >>> print(attack.score(np.ones(2), np.ones(2) / 4).round(4))
        0.5377
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    mean: np.ndarray
    precision: np.ndarray
    aim: np.ndarray | None
    n: int

    def __init__(self, data: Gaussian, n: int, target: object = None) -> None:
        self.n = EmpiricalMean().rows(n)
        member("data", data, Gaussian, "Gaussian")
        self.mean = data.mean
        covariance = np.diag(data.covariance) if data.is_product else data.covariance
        positive_definite_factor("covariance", covariance)
        self.precision = np.linalg.inv(covariance)
        self.aim = None if target is None else finite_vector("target", target, data.dimension)

    def centre(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        return aimed_at(self.aim, target, self.mean.shape[0])

    def metric(self, target: Float[Array, " d"]) -> Float[Array, "d d"]:
        """n/(n-1) Sigma^-1, shape (d, d)."""
        return jnp.asarray(self.precision * (self.n / (self.n - 1)))

    def value(self, target: Float[Array, " d"], square: Float[Array, ""]) -> Float[Array, ""]:
        difference = aimed_at(self.aim, target, self.mean.shape[0]) - self.mean
        own = jnp.dot(difference, self.precision @ difference)
        return 0.5 * (own - square - self.mean.shape[0] * jnp.log1p(-1.0 / self.n))


def _spell(mechanism: AbstractMechanism) -> str:
    base = getattr(mechanism, "base", None)
    name = kind_of(mechanism)
    return name if base is None else f"{name}({_spell(base)})"
