"""Linear scores of clipped isotropic Gaussian gradients, drawn from their law: three numbers a record."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.polynomial.chebyshev import chebinterpolate, chebval
from scipy.special import gammainccinv, gammaincinv, ndtr

from mipsim.attacks.base import AbstractAttack
from mipsim.distributions.gaussian import Gaussian
from mipsim.engine.random.counter import Draws
from mipsim.engine.samplers.clipped import AbstractLinearStep, clip_factor, is_in, linear_step, row_normals
from mipsim.forms.score import weights_at
from mipsim.games.base import AbstractMembershipGame

_BLOCK = 4096  # games of a few numbers each: 32 kB an array, which stays in the L1 cache
_REACH = 8.7  # in probits; the largest value that a normal made of 53-bit uniforms takes is 8.57
_ERROR = 1e-9  # of a chi variable, whose standard deviation is .6 to .71: a KS distance of some 1e-9


class ClippedLaw(AbstractLinearStep):
    """Draws the score of a clipped step from its exact law, for records N(m, s^2 I) and a linear attack.

    The score of a clipped record g, with weights w, needs w . g and ||g|| only. In an orthonormal basis whose first
    vector is w / |w| and whose second holds the rest of m, these are functions of two normals and one chi variable of
    d - 2 degrees of freedom:

        ||g||^2 = (m_1 + s Z_1)^2 + (m_2 + s Z_2)^2 + s^2 chi^2_{d-2},    w . g = |w| (m_1 + s Z_1).

    The chi variable is a smooth increasing function of a third normal, which a Chebyshev polynomial gives to 1e-9.

    Attributes:
        along, across: m_1 and m_2.
        deviation: s.
        chi: Chebyshev coefficients of chi_{d-2} as a function of a normal over 8.7; empty for d <= 2.
        flat: whether d = 1, so that there is no second normal.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "clipped law"
    along: Float[Array, ""]
    across: Float[Array, ""]
    deviation: Float[Array, ""]
    chi: Float[Array, " terms"]
    flat: bool = eqx.field(static=True)

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        inside = is_in(self.inclusion, draws)
        others = self.rows - inside.astype(jnp.int64)

        def step(row: Array, total: Array) -> Array:
            number = row.astype(jnp.uint32)
            z1, z2 = row_normals(0, number, draws)
            first = self.along + self.deviation * z1
            square = first**2
            if not self.flat:
                square = square + (self.across + self.deviation * z2) ** 2
            if self.chi.shape[0]:
                z3, _ = row_normals(1, number, draws)
                square = square + (self.deviation * _polynomial(self.chi, z3 / _REACH)) ** 2
            return total + jnp.where(row < others, clip_factor(jnp.sqrt(square), self.clip) * first, 0.0)

        total = jax.lax.fori_loop(0, self.rows, step, jnp.zeros(draws.games.shape))
        weights = self.attack.weights(self.target)
        return self.finished(weights, jnp.linalg.norm(weights) * total, inside, draws)


def clipped_law_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> ClippedLaw | None:
    """The sampler that draws the score from its law, or None where it does not apply.

    It applies to `FixedTarget` with a clipped step, Gaussian records of one common variance without correlations, and a
    linear attack. Must be called inside `exact_scope`.
    """
    step = linear_step(game, attack)
    if step is None or not isinstance(game.data, Gaussian):
        return None
    d, variance = game.data.dimension, game.data.variance
    same = bool((variance == variance[0]).all())
    if not same or not (game.data.is_product or np.array_equal(game.data.cov, np.diag(variance))):
        return None
    mean = game.data.mean
    weights = weights_at(step["attack"], step["target"])
    size = np.abs(weights).max()
    # A score without weights is constant, whichever direction stands for theirs.
    unit = weights / size if size > 0.0 else np.eye(1, d)[0]
    unit = unit / np.linalg.norm(unit)
    along = float(unit @ mean)
    step["rows"] = jnp.asarray(step["rows"])  # a loop's end: no other executable for another n
    return ClippedLaw(
        **step,
        along=jnp.asarray(along),
        across=jnp.asarray(np.linalg.norm(mean - along * unit)),
        deviation=jnp.asarray(np.sqrt(variance[0])),
        chi=jnp.asarray(chi_of_normal(d - 2) if d > 2 else np.zeros(0)),
        flat=d == 1,
        block=_BLOCK,
    )


def chi_of_normal(degrees: int) -> np.ndarray:
    """Chebyshev coefficients of x -> F^-1(Phi(8.7 x)) on [-1, 1], F the law of a chi variable.

    Their error is below 1e-9, or 1e-11 of the square root of the degrees where that is more; the standard deviation of
    a chi variable is 0.6 to 0.71.

    Args:
        degrees: of freedom, >= 1.

    Examples:
        >>> from numpy.polynomial.chebyshev import chebval
        >>> from scipy.stats import chi
        >>> bool(abs(chebval(1 / 8.7, chi_of_normal(10)) - chi(10).isf(ndtr(-1))) < 1e-9)
        True
    """

    def exact(x: Any) -> Any:  # the stubs of `chebinterpolate` want a function of numbers
        z, half = _REACH * np.asarray(x), 0.5 * degrees
        lower, upper = ndtr(np.minimum(z, 0.0)), ndtr(-np.maximum(z, 0.0))
        return np.sqrt(2.0 * np.where(z < 0.0, gammaincinv(half, lower), gammainccinv(half, upper)))

    check, allowed = np.linspace(-1.0, 1.0, 1001), max(_ERROR, 1e-2 * _ERROR * np.sqrt(degrees))
    for terms in (24, 32, 48, 64, 96, 128, 192):
        found = np.asarray(chebinterpolate(exact, terms - 1))
        if np.abs(chebval(check, found) - exact(check)).max() < allowed:
            return found
    raise ArithmeticError(f"chi with {degrees} degrees of freedom: 192 terms do not reach {allowed:g}")


def _polynomial(coefficients: Array, x: Array) -> Array:
    """Clenshaw's sum, unrolled."""
    one = two = jnp.zeros_like(x)
    for k in reversed(range(1, coefficients.shape[0])):
        one, two = coefficients[k] + 2.0 * x * one - two, one
    return coefficients[0] + x * one - two
