"""The exact law of an additive score of Bernoulli sums, by tables of its terms."""

from dataclasses import dataclass, replace
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from mipsim.attacks.base import AbstractAdditiveAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.exact.atoms import Table, convolve, merged
from mipsim.exact.changed import DrawnLaw
from mipsim.exact.complex_arrays import ComplexArray
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.law import AbstractScoreLaw
from mipsim.exact.links import linked
from mipsim.exact.problem import Problem
from mipsim.exact.transform import AbstractTransform, Tail, largest_log_modulus

_MOMENTS = 26
_SOME = 256
_NEGLIGIBLE = -40.0
_WORK = 2**22
_BLOCK = 2**19


@dataclass(frozen=True)
class TablesTransform(AbstractTransform):
    """A sum over coordinates of terms with finitely many values; the mass at -inf is left out of the cumulants.

    Attributes:
        values: finite values of the terms, shape (2, g, K), less a centre per coordinate; worlds out and in.
        log_probability: of these values, -inf where impossible, shape (2, g, K).
        copies: how many coordinates have each table, shape (g,).
        centre: what was taken from the score, shape (2,).
    """

    values: np.ndarray
    log_probability: np.ndarray
    copies: np.ndarray
    centre: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The centre."""
        return self.centre

    @property
    def log_mass(self) -> np.ndarray:
        """Of the finite values."""
        return self._log_mass

    @cached_property
    def _log_mass(self) -> np.ndarray:
        one = np.exp(self.log_probability).sum(axis=2)
        lost = 1.0 - one
        return np.where(np.abs(lost) < 1e-14, 0.0, np.log1p(-lost)) @ self.copies

    @property
    def step(self) -> float | None:
        """None: logarithms of whole numbers are on no lattice."""
        return None

    @property
    def anchor(self) -> np.ndarray:
        """Unused."""
        return self.centre

    @property
    def strip(self) -> tuple[float, float]:
        """Everywhere: finitely many values."""
        return -np.inf, np.inf

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """K_w(s): the tilted law at each real part; along the line, its moments where they suffice."""
        out = np.zeros((2, s.size), complex)
        for c in np.unique(s.real):
            at = s.real == c
            out[:, at] = self._line(float(c), s.imag[at])
        return out

    def log_modulus(self, c: float, t: np.ndarray) -> np.ndarray:
        """Of as many coordinates as make it negligible: each factor of the others is at most 1."""
        found, some = np.zeros(t.shape), _SOME
        while (open_ := found > _NEGLIGIBLE).any():
            part = replace(
                self,
                values=self.values[:, :some],
                log_probability=self.log_probability[:, :some],
                copies=self.copies[:some],
            )
            found[open_] = largest_log_modulus(part, c, t[open_])
            if some >= self.copies.size:
                break
            some *= 3
        return found

    def quiet_from(self, c: float, start: float, stop: float, span: tuple[float, float]) -> float:
        """Start: the nodes themselves tell."""
        return start

    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """Nothing is proven beyond the largest frequency looked at, twice that of the last node."""
        last = 2.0 * (first + 1)
        if c not in self._heights:
            t = np.array([1.0, 1.25, 1.5, 2.0]) * (first + 1) * spacing
            self._heights[c] = float(np.exp(self.log_modulus(c, t).max()))
        return Tail(self._heights[c], last)

    @cached_property
    def _heights(self) -> dict[float, float]:
        return {}

    def _line(self, c: float, t: np.ndarray) -> ComplexArray:
        result = np.zeros((2, t.size), complex)
        groups, size = self.values.shape[1:]
        step = max(1, _BLOCK // size)
        for world in (0, 1):
            for start in range(0, groups, step):
                part = slice(start, start + step)
                v, copies = self.values[world, part], self.copies[part]
                tilted = self.log_probability[world, part] + c * v
                top = tilted.max(axis=1, keepdims=True)
                q = np.exp(tilted - top)
                mass = q.sum(axis=1)
                mean = (q * v).sum(axis=1) / mass
                centred, q = v - mean[:, None], q / mass[:, None]
                phi = _characteristic(q, centred, t)
                result[world] += copies @ (np.log(phi) + 1j * np.outer(mean, t))
                result[world] += copies @ (np.log(mass) + top[:, 0])
        return result


def _characteristic(q: np.ndarray, v: np.ndarray, t: np.ndarray) -> np.ndarray:
    """sum_k q_jk exp(i t v_jk), shape (g, T); the v of each row have mean 0 under q."""
    sd = np.sqrt((q * v * v).sum(axis=1).max())
    fast = np.abs(t) * sd <= 0.5
    out = np.empty((q.shape[0], t.size), complex)
    if fast.any():
        # Far values count with q |v t|^r / r!, which the sum over r bounds by q exp(|v t|): they are never large.
        power, moments = q.copy(), [q.sum(axis=1)]
        largest = float(np.abs(t[fast]).max()) * sd
        terms = 8 if largest < 0.01 else 14 if largest < 0.1 else 20 if largest < 0.25 else _MOMENTS
        for r in range(1, terms):
            power *= v / r
            moments.append(power.sum(axis=1))
        waves = (1j * t[fast]) ** np.arange(terms)[:, None]
        out[:, fast] = np.stack(moments, axis=1) @ waves
    for i in np.flatnonzero(~fast):
        angle = t[i] * v
        out[:, i] = (q * np.cos(angle)).sum(axis=1) + 1j * (q * np.sin(angle)).sum(axis=1)
    return out


def table_law(problem: Problem) -> AbstractScoreLaw | None:
    """A sum of one term per coordinate of a mean of Bernoulli rows without noise: the exact likelihood ratio, say.

    Raises:
        ValueError: if the attack's contributions are NaN or +inf at a count that can occur.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> data = mi.Bernoulli(np.linspace(0.25, 0.75, 100))
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=200, target=data.easiest_target())
        >>> print(game.exact(mi.LikelihoodRatio(game.mechanism, data, 200)).beta(0.1).round(6))
        0.7...
    """
    attack, mean, data = problem.attack, problem.mean, problem.data
    additive = (
        isinstance(attack, AbstractAdditiveAttack) and type(attack).score is AbstractAdditiveAttack.score
    )
    if not additive or not isinstance(data, Bernoulli) or mean.is_noisy or mean.rate < 1.0:
        return None
    assert isinstance(attack, AbstractAdditiveAttack)
    low, high = _window(mean.rows, data.p)
    count = low[:, None] + np.arange(int((high - low).max()) + 1.0)
    inner = np.stack([count, np.minimum(count, mean.rows - 1.0)])
    terms = _contributions(
        attack,
        problem.target,
        inner + np.array([0.0, 1.0])[:, None, None] * problem.target[:, None],
        mean.rows,
    )
    log_probability = _log_binomial(mean.rows, data.p, count)
    possible = np.isfinite(log_probability)
    bad = possible & (np.isnan(terms) | (terms == np.inf))
    if bad.any():
        world, j, k = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"attack {type(attack).__name__} contributes {terms[world, j, k]} at coordinate {j} for the count "
            f"{count[j, k]:g}; contributions must be numbers or -inf"
        )
    law = _few(terms, log_probability) or InvertedLaw(_transform(terms, log_probability))
    drawn = law if mean.drawn == 1.0 else DrawnLaw(law, mean.drawn)
    target = jnp.asarray(problem.target)
    return linked(drawn, lambda total: attack.link(target, total))


def _window(n: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts with tilted probability above 1e-30: a tail of 1e-308 tilts each of d coordinates by 38 / sqrt d deviations."""
    sd = np.sqrt(n * p * (1 - p))
    reach = (12.0 + 40.0 / np.sqrt(p.size)) * sd + 40.0
    return np.maximum(np.floor(n * p - reach), 0.0), np.minimum(np.ceil(n * p + reach), n)


def _log_binomial(n: int, p: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Log P(Binomial(n, p_j) = count) and log P(Binomial(n - 1, p_j) = count), -inf outside, shape (2, d, K)."""
    from scipy.stats import binom  # a second to import: not when the library is

    return np.stack([binom.logpmf(count, m, p[:, None]) for m in (n, n - 1)])


def _contributions(
    attack: AbstractAdditiveAttack, target: np.ndarray, sums: np.ndarray, rows: int
) -> np.ndarray:
    d = target.size
    outputs = jnp.asarray(sums.transpose(0, 2, 1).reshape(-1, d) / rows)
    terms = jax.jit(jax.vmap(lambda output: attack.contributions(jnp.asarray(target), output)))(outputs)
    return np.asarray(terms, np.float64).reshape(2, -1, d).transpose(0, 2, 1)


def _few(terms: np.ndarray, log_probability: np.ndarray) -> AbstractScoreLaw | None:
    d, size = terms.shape[1:]
    if (d + (d > 1)) * np.log(size) > np.log(_WORK):
        return None
    probability = np.exp(log_probability)
    none = np.zeros(size)
    return convolve(
        [
            Table(*_merged(terms[:, j], np.stack([[probability[0, j], none], [none, probability[1, j]]])))
            for j in range(d)
        ]
    )


def _merged(terms: np.ndarray, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = merged(terms.ravel(), probability[:, 0].ravel(), probability[:, 1].ravel())
    return table.values, table.out, table.inside


def _transform(terms: np.ndarray, log_probability: np.ndarray) -> TablesTransform:
    finite = np.isfinite(terms)
    log_probability = np.where(finite, log_probability, -np.inf)
    values = np.where(finite, terms, 0.0)
    weight = np.exp(log_probability)
    centre = (weight * values).sum(axis=2) / weight.sum(axis=2)
    values = np.where(finite & np.isfinite(log_probability), values - centre[:, :, None], 0.0)
    stacked = np.concatenate([values[0], log_probability[0], values[1], log_probability[1]], axis=1)
    keys: dict[bytes, int] = {}
    group = np.array([keys.setdefault(row.tobytes(), len(keys)) for row in stacked])
    _, first, copies = np.unique(group, return_index=True, return_counts=True)
    return TablesTransform(
        values[:, first], log_probability[:, first], copies.astype(float), centre.sum(axis=1)
    )
