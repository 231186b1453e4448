"""What every law of a record provides, and the checks that the laws share."""

import functools
from abc import abstractmethod
from collections.abc import Callable
from html import escape
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from mipsim._family import AbstractMember, is_users
from mipsim._memory import fits_memory
from mipsim._precision import exact_scope, fixed_key
from mipsim._validation import finite_vector, positive_definite_factor, real_array, whole
from mipsim.distributions.transforms import AbstractTransform

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Row = Float[Array, " d"]
Count = int | Float[Array, ""]
Member = Bool[Array, ""] | Int[Array, ""] | bool
CharacteristicFunction = Callable[[np.ndarray], np.ndarray]


class AbstractDistribution(AbstractMember):
    """The law D of a record z in R^d.

    Parameters are NumPy float64 arrays, so that no precision is lost outside an x64 scope. Moments are
    NumPy float64 of shape (d,), in the data's own units (the r-th cumulant in units^r). When a distribution of a user's own is made, all
    that it states is held against all else that it states, and a contradiction is a ValueError: see `check_agreement`.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.25, 0.5])
        >>> isinstance(data, AbstractDistribution), data.dimension
        (True, 2)
        >>> print(data.mean, data.is_product, data.covariance)
        [0.25 0.5 ] True [0.1875 0.25  ]
    """

    FLOAT64: ClassVar[tuple[str, ...]] = ("sample",)
    FLOAT64_FUNCTIONS: ClassVar[tuple[str, ...]] = ("sum_sampler", "sum_ratio")
    OPTIONAL: ClassVar[tuple[str, ...]] = (
        *FLOAT64_FUNCTIONS, "characteristic", "location_scale", "lattice", "transformed",
    )  # fmt: skip

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "sample" in vars(cls):
            cls.sample = _within_memory(cls.sample)

    def __check_init__(self) -> None:
        """Refuse a user's own distribution that contradicts itself, when it is first made with these parameters."""
        if is_users(type(self)):
            from mipsim.distributions.agreement import check_agreement

            check_agreement(self)

    @property
    @abstractmethod
    def is_product(self) -> bool:
        """Whether the d coordinates are independent."""

    @property
    @abstractmethod
    def mean(self) -> Vector:
        """E z, shape (d,)."""

    @property
    @abstractmethod
    def covariance(self) -> np.ndarray:
        """The variances, shape (d,), for a product law; else the (d, d) matrix, unless a law says so."""

    @abstractmethod
    def central_moment(self, order: int) -> Vector:
        """E (z_j - mean_j)^order for each coordinate, shape (d,); inf where it does not exist. order >= 0."""

    @abstractmethod
    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """Draw n independent records (float64 inside an x64 scope)."""

    @abstractmethod
    def in_support(self, point: object) -> bool:
        """Whether a record can be the point, shape (d,) (or, for a density, lie arbitrarily near it)."""

    @abstractmethod
    def easiest_target(self) -> Vector:
        """The point of the support that is farthest from the mean in Mahalanobis distance, shape (d,).

        Raises:
            ValueError: if the support is unbounded, so that there is none.
        """

    @abstractmethod
    def hardest_target(self) -> Vector:
        """The point of the support that is nearest to the mean in Mahalanobis distance, shape (d,)."""

    def sum_sampler(self) -> Callable[[PRNGKeyArray, Count], Array] | None:
        """The function `(key, n) -> sum` that draws the sum of n >= 0 records, shape (d,), from its exact law.

        The number n may itself be sampled, a whole number that JAX traces. None where there is none.
        """
        return None

    def sum_ratio(self) -> Callable[[Row, int, Row, Row], Row] | None:
        """The function `(total, n, target, noise_variance) -> log p(total | target + n-1 records) - log p(total | n records)`.

        It works coordinate by coordinate, on shape (d,): total are the column sums (not means) of the n rows, plus independent
        N(0, n noise_variance_j) noise; -inf where the total is impossible with the target in. None where there is no closed
        form. A law without a closed form for positive noise ignores it; `LikelihoodRatio` never passes it positive noise.
        """
        return None

    def characteristic(self) -> CharacteristicFunction | None:
        """The function u -> E exp(i u (z_j - mean_j)) of real u, of any shape that broadcasts against (d,).

        None where it has no closed form, or the coordinates are dependent. With it, and parameters of shape (d,), column sums are tabulated.
        """
        return None

    def location_scale(self) -> tuple[Vector, Vector, "AbstractDistribution"] | None:
        """(scale, sd, law of X): coordinate j is mean_j + scale_j (X_j - E X_j), X_j of standard deviation sd_j; shapes (d,).

        Coordinates whose X have equal parameters share a table of their sum. None where the law has no such family.
        """
        return None

    def lattice(self) -> tuple[float, Vector, np.ndarray] | None:
        """(step, least value of each coordinate (d,), probabilities of least + step k (d, m)), or None without a lattice."""
        return None

    def transformed(self, transform: AbstractTransform) -> "AbstractDistribution | None":
        """The distribution of a transformed record; None where it belongs to no family that is known.

        Where it exists, games of a mean of transformed records have the samplers and exact laws of a plain mean.
        """
        edge = np.full(self.dimension, np.inf)
        return self if transform.fixes(-edge, edge) else None

    @property
    def dimension(self) -> int:
        """d, the number of coordinates of a record."""
        return self.mean.shape[0]

    @property
    def variance(self) -> Vector:
        """Var z_j, shape (d,)."""
        return self.central_moment(2)

    def typical_target(self, seed: int = 0) -> Vector:
        """A record sampled from the law with its own seed, shape (d,); the same seed gives the same point."""
        with exact_scope():
            key = jax.random.fold_in(fixed_key(seed), 0x7A)  # ord("z"): a stream of its own
            return np.asarray(self.sample(key, 1)[0], dtype=np.float64)

    def mahalanobis_squared(self, point: object) -> float:
        """||point - mean||^2 in the inverse covariance, a number without unit; point has shape (d,)."""
        z = finite_vector("point", point, self.dimension) - self.mean
        covariance = self.covariance
        if covariance.ndim == 1:
            return float(np.sum(z**2 / covariance))
        factor = positive_definite_factor("covariance", covariance)
        return float(np.sum(np.linalg.solve(factor, z) ** 2))

    def _repr_html_(self) -> str:
        mean, sd = self.mean, np.sqrt(self.variance)
        return (
            f"<b>{escape(type(self).__name__)}</b>: d = {self.dimension:,}, "
            f"mean {mean.min():.4g} to {mean.max():.4g}, standard deviation {sd.min():.4g} to {sd.max():.4g}"
        )


class AbstractUnbounded(AbstractDistribution):
    """A law whose support is all of R^d: every point is possible, and none is farthest from the mean.

    Examples:
        >>> import mipsim as mi
        >>> mi.Gaussian(0.0, 1.0).easiest_target()
        Traceback (most recent call last):
        ...
        ValueError: Gaussian data have an unbounded support and so no easiest target; give a point
    """

    location: eqx.AbstractVar[np.ndarray]

    @property
    def mean(self) -> Vector:
        """The location."""
        return self.location

    def in_support(self, point: object) -> bool:
        finite_vector("point", point, self.dimension)
        return True

    def easiest_target(self) -> Vector:
        raise ValueError(no_easiest_target(self))

    def hardest_target(self) -> Vector:
        return self.mean.copy()


def no_easiest_target(data: AbstractDistribution) -> str:
    """Why a law of unbounded support has no easiest target."""
    return f"{type(data).__name__} data have an unbounded support and so no easiest target; give a point"


class AbstractProduct(AbstractDistribution):
    """The law of a record whose d coordinates are independent; its covariance is the vector of variances."""

    @property
    def is_product(self) -> bool:
        return True

    @property
    def covariance(self) -> Vector:
        return self.variance


class AbstractWithCDF(AbstractProduct):
    """Independent coordinates whose distribution functions are given: fast sums and exact distributions follow from them.

    Parameters are vectors of shape (d,): coordinates with equal parameters have equal distributions.
    """

    @abstractmethod
    def cdf(self, points: np.ndarray) -> np.ndarray:
        """P(z_j <= x_j) of each coordinate, continuous, right to 1e-14; points and result have shape (K, d)."""


def _within_memory(sample: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which refuses as many records as memory cannot hold: XLA ends the process. Of games the engine knows what a block takes."""

    @functools.wraps(sample)
    def held(self: AbstractDistribution, key: PRNGKeyArray, n: int) -> Any:
        if not isinstance(key, Tracer):
            fits_memory(n * self.dimension, n=n)
        return sample(self, key, n)

    return held


def coordinates(d: int | None, **parameters: object) -> tuple[Vector, ...]:
    """Return every parameter as a float64 vector of a common shape (d,); numbers are repeated d times.

    Args:
        d: the number of coordinates; None = the length of the vectors given, or 1 where all are numbers.
        **parameters: each a number or a vector of shape (d,), by its public name.

    Examples:
        >>> coordinates(None, mean=0.0, scale=[1.0, 2.0])
        (array([0., 0.]), array([1., 2.]))
    """
    arrays = {name: real_array(name, value) for name, value in parameters.items()}
    if d is None:
        d = next((array.size for array in arrays.values() if array.ndim > 0), 1)
    else:
        d = whole("d", d, 1, 2**31)
        fits_memory(2 * len(arrays) * d, d=d)
    out = [
        np.full(d, array) if array.ndim == 0 else finite_vector(name, array, d)
        for name, array in arrays.items()
    ]
    return tuple(array.copy() for array in out)


def positive(name: str, values: np.ndarray, why: str = "") -> np.ndarray:
    """Return `values` if all are > 0, or name the first coordinate that is not."""
    check_each(name, values, values > 0, f"; it must be > 0{why}")
    return values


def check_each(name: str, values: np.ndarray, good: np.ndarray, demand: str) -> None:
    """Raise ValueError for the first coordinate that is not good; the demand ends the sentence."""
    if not good.all():
        worst = int(np.argmin(good))
        raise ValueError(f"{name} is {values[worst]:g} at coordinate {worst}{demand}")


def moment_order(order: object) -> int:
    """Return the order of a moment as an int >= 0."""
    return whole("order", order, 0)
