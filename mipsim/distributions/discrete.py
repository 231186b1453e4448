"""Independent coordinates on a few values."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import finite_vector, real_array, whole
from mipsim.distributions.base import AbstractDistribution, AbstractProduct, Vector, moment_order
from mipsim.distributions.transforms import AbstractTransform

_FEW = 16  # with more values a search takes fewer comparisons than all of them; both find the same value


class Discrete(AbstractProduct):
    """Coordinates on the values v_1 .. v_m, with P(z_j = v_k) = probabilities[j, k], independent.

    Unlike Bernoulli data, the values may be incommensurable, such as {0, 1, sqrt 2}: the sum is then on no
    lattice.

    Args:
        values: distinct numbers, shape (m,), m >= 2.
        probabilities: shape (m,), shared by the coordinates, or (d, m); each row >= 0 with sum 1 (to 1e-9; it
            is then normalised), and two values possible in each coordinate.
        d: the number of coordinates, where probabilities has shape (m,) (default 1).

    Examples:
        >>> data = Discrete([0.0, 1.0, 4.0], [0.5, 0.25, 0.25], d=2)
        >>> print(data.mean, data.variance, data.easiest_target(), data.hardest_target())
        [1.25 1.25] [2.6875 2.6875] [4. 4.] [1. 1.]
    """

    values: np.ndarray
    probabilities: np.ndarray

    def __init__(self, values: object, probabilities: object, d: int | None = None) -> None:
        support = finite_vector("values", values)
        weights = real_array("probabilities", probabilities)
        m = support.size
        if m < 2 or np.unique(support).size != m:
            raise ValueError(
                f"values holds {np.unique(support).size} distinct numbers of {m}; give m >= 2 distinct ones"
            )
        d = None if d is None else whole("d", d, 1, 2**31)
        rows = weights.shape[0] if weights.ndim == 2 and d is None else d
        if weights.size == 0 or weights.shape not in ((m,), (rows, m)):
            raise ValueError(
                f"probabilities has shape {weights.shape}; it must have shape ({m},) or ({d or 'd'}, {m})"
            )
        if (weights < 0).any():
            raise ValueError(f"probabilities holds {weights.min():g}; every probability must be >= 0")
        total = weights.sum(axis=-1, keepdims=True)
        if (abs(total - 1) > 1e-9).any():
            raise ValueError(
                f"probabilities sum to {total.flat[np.argmax(abs(total - 1))]:.12g}; each row must sum to 1"
            )
        if (np.count_nonzero(weights, axis=-1) < 2).any():
            raise ValueError(
                "probabilities make a constant coordinate with zero variance; two values must be possible"
            )
        order = np.argsort(support)
        self.values = support[order]
        rows = np.atleast_2d(weights / total)[:, order]
        self.probabilities = np.repeat(rows, d or 1, axis=0) if weights.ndim == 1 else rows.copy()

    @property
    def mean(self) -> Vector:
        return self.probabilities @ self.values

    def central_moment(self, order: int) -> Vector:
        r = moment_order(order)
        return np.sum(self.probabilities * (self.values - self.mean[:, None]) ** r, axis=1)

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """Draw n records by inverting the distribution function, shape (n, d)."""
        below = jnp.cumsum(jnp.asarray(self.probabilities), axis=1)[:, :-1]
        uniform, values = jax.random.uniform(key, (n, self.probabilities.shape[0])), jnp.asarray(self.values)
        if values.size > _FEW:
            return values[jax.vmap(partial(jnp.searchsorted, side="right"), (0, 1), 1)(below, uniform)]
        sample = values[0]
        for k in range(values.size - 1):
            sample = jnp.where(uniform < below[:, k], sample, values[k + 1])
        return sample

    def in_support(self, point: object) -> bool:
        z = finite_vector("point", point, self.dimension)
        return bool(((z[:, None] == self.values) & (self.probabilities > 0)).any(axis=1).all())

    def easiest_target(self) -> Vector:
        """In each coordinate the possible value farthest from the mean (of two, the larger), shape (d,)."""
        distance = np.where(self.probabilities > 0, abs(self.values - self.mean[:, None]), -1.0)
        return self.values[self.values.size - 1 - np.argmax(distance[:, ::-1], axis=1)]

    def hardest_target(self) -> Vector:
        """In each coordinate the possible value nearest to the mean (of two, the smaller), shape (d,)."""
        distance = np.where(self.probabilities > 0, abs(self.values - self.mean[:, None]), np.inf)
        return self.values[np.argmin(distance, axis=1)]

    def lattice(self) -> tuple[float, Vector, np.ndarray] | None:
        shifted = self.values - self.values[0]
        for parts in range(1, 65):
            step = float(np.diff(self.values).min()) / parts
            whole = np.rint(shifted / step)
            if np.abs(shifted / step - whole).max() < 1e-9 and whole[-1] < 1024:
                law = np.zeros((self.dimension, int(whole[-1]) + 1))
                law[:, whole.astype(int)] = self.probabilities
                return step, np.full(self.dimension, self.values[0]), law
        return None

    def transformed(self, transform: AbstractTransform) -> AbstractDistribution | None:
        possible = np.where(self.probabilities > 0, self.values, np.nan)
        if transform.fixes(np.nanmin(possible, axis=1), np.nanmax(possible, axis=1)):
            return self
        return transformed_values(self.values, self.probabilities, transform)


def transformed_values(
    values: np.ndarray, probabilities: np.ndarray, transform: AbstractTransform
) -> Discrete | None:
    """Independent coordinates on transformed values, of which equal values are merged; None where a coordinate is then constant."""
    d = probabilities.shape[0]
    if not transform.is_coordinatewise(d):
        return None
    moved = transform.apply(np.repeat(values[:, None], d, axis=1))[:, 0]
    support, place = np.unique(moved, return_inverse=True)
    law = probabilities @ (place.ravel()[:, None] == np.arange(support.size))
    used = (law > 0).any(axis=0)
    support, law = support[used], law[:, used]
    return Discrete(support, law) if (np.count_nonzero(law, axis=1) >= 2).all() else None
