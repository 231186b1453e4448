"""Error rates that are a known multiple of a binomial probability, and their comparison with a claimed curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from mipsim._validation import number, real_array
from mipsim.bands.binomial_deviance import deviance, deviance_logits
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.bands.compare import LEAST_COUNT, Comparison
from mipsim.bands.comparison_base import critical_probit, widths_and_detectable
from mipsim.bands.curve_band import CurveBand

if TYPE_CHECKING:  # at run time mipsim.tradeoff imports this package
    from mipsim.tradeoff.base import AbstractTradeOff

_CELLS, _ZOOM, _POINTS = 1024, 6, 65


@dataclass(frozen=True, eq=False)
class ScaledRates:
    """K rates r_k with r_k = B_k q_k, or 1 - r_k = B_k q_k, where q_k is the probability of a binomial count.

    Plain games are the case B = 1. A thinned, exponentially tilted game accepts with probability q_k = tail / B_k.

    Attributes:
        count: accepted games, whole, shape (K,).
        games: games played for each, >= 1, shape (K,).
        scale: B_k > 0, known exactly, shape (K,).
        complement: whether it is 1 - r_k that is B_k q_k, shape (K,).

    Raises:
        ValueError: if counts are not whole or exceed the games, a scale is not positive, or shapes differ.

    Examples:
        >>> rates = ScaledRates([50, 50], [1000, 1000], [1e-4, 1.0], [False, True])
        >>> rates.rate.tolist(), rates.probit.round(3).tolist()
        ([5e-06, 0.95], [-4.417, 1.645])
    """

    count: np.ndarray
    games: np.ndarray
    scale: np.ndarray
    complement: np.ndarray

    def __post_init__(self) -> None:
        count, games, scale = (real_array(name, getattr(self, name)) for name in ("count", "games", "scale"))
        complement = np.asarray(self.complement, dtype=bool)
        if count.ndim != 1 or not count.shape == games.shape == scale.shape == complement.shape:
            raise ValueError(
                f"count has shape {count.shape}, games {games.shape}, scale {scale.shape} and complement "
                f"{complement.shape}; they must be vectors of one length"
            )
        bad = (count < 0) | (count > games) | (count != np.floor(count))
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(
                f"count is {count[k]:g} of {games[k]:g} games; it must be whole and at most as many"
            )
        if not (scale > 0).all():
            raise ValueError(f"scale holds {scale.min():g}; every scale must be > 0")
        for name, value in (("count", count), ("games", games), ("scale", scale), ("complement", complement)):
            object.__setattr__(self, name, value)

    @property
    def rate(self) -> np.ndarray:
        """The estimated rates, shape (K,)."""
        tail = self.scale * self.count / self.games
        return np.where(self.complement, 1.0 - tail, tail)

    @property
    def probit(self) -> np.ndarray:
        """Phi^-1 of the estimated rates, from the tail that was counted; infinite where it is 0, shape (K,)."""
        return self._probit(self.count / self.games)

    @property
    def rarest_cell(self) -> np.ndarray:
        """The smaller of the accepted and the other games, shape (K,)."""
        return np.minimum(self.count, self.games - self.count)

    def bounds(self, failure_probability: float) -> tuple[np.ndarray, np.ndarray]:
        """Simultaneous Clopper-Pearson bounds of the rates, (low, high), each of shape (K,).

        Examples:
            >>> low, high = ScaledRates([50], [1000], [1e-4], [False]).bounds(0.05)
            >>> low.round(8).tolist(), high.round(8).tolist()
            ([3.73e-06], [6.54e-06])
        """
        k = self.count.size
        ends = [
            clopper_pearson([x], int(n), failure_probability, thresholds=k)
            for x, n in zip(self.count, self.games, strict=True)
        ]
        low, high = (np.minimum(self.scale * np.array([e[i][0] for e in ends]), 1.0) for i in (0, 1))
        return np.where(self.complement, 1.0 - high, low), np.where(self.complement, 1.0 - low, high)

    def deviance_at(self, rate: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Twice the log-likelihood ratio against the rates (K, m), given with their complements; inf where q > 1."""
        q = np.where(self.complement[:, None], other, rate) / self.scale[:, None]
        found = deviance(self.count[:, None], self.games[:, None], np.minimum(q, 1.0))
        return np.where(q > 1.0 + 1e-12, np.inf, found)

    def path(self, critical: float, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Probits of rates from the estimate to the end of the deviance interval, and the deviance spent, (K, cells + 1).

        `side` is 1 towards larger rates and 0 towards smaller ones.
        """
        centre = logit(self.count / self.games)[:, None]
        low, high = deviance_logits(self.count, self.games, critical)
        end = np.where(self.complement != bool(side), high, low)[:, None]
        logits = centre + (end - centre) * np.linspace(0.0, 1.0, _CELLS + 1)
        spent = deviance(self.count[:, None], self.games[:, None], expit(logits), expit(-logits))
        return self._probit(expit(logits)), spent

    def probit_variance(self) -> np.ndarray:
        """Variance of the estimated probit, B^2 q (1 - q) / (n phi(z)^2), planned where the count is 0 or n."""
        q = (self.count + 0.5) / (self.games + 1.0)
        z = self._probit(q)
        density = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(density > 0, self.scale**2 * q * (1 - q) / (self.games * density**2), np.inf)

    def _probit(self, q: np.ndarray) -> np.ndarray:
        shape = (-1,) + (1,) * (q.ndim - 1)
        z = ndtri(np.minimum(self.scale.reshape(shape) * q, 1.0))
        return np.where(self.complement.reshape(shape), -z, z)


def rates_band(out: ScaledRates, inside: ScaledRates, failure_probability: float) -> CurveBand:
    """The simultaneous band of the curve through the FPRs `out` and the FNRs `inside`, half of the risk to each."""
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    return CurveBand(*out.bounds(risk / 2), *inside.bounds(risk / 2))


def compare_rates(
    out: ScaledRates,
    inside: ScaledRates,
    claim: AbstractTradeOff,
    *,
    failure_probability: float = 1e-3,
    tolerance: float = 0.05,
) -> Comparison:
    """Hold FPRs `out` and FNRs `inside`, at K thresholds fixed before the games, against a claimed curve g.

    D_k = min over a of D_out(a) + D_in(g(a)), where D is twice the log-likelihood ratio of the binomial count with
    probability a / B_k (or (1 - g(a)) / B_k); p_k = 2 P(chi2_1 > D_k), Bonferroni over K, as for plain games.

    Args:
        out: the FPRs; thresholds with fewer than 25 accepted (or other) games in a world are not used.
        inside: the FNRs at the same thresholds.
        claim: the claimed trade-off function.
        failure_probability: for all K thresholds together, in (0, 1).
        tolerance: what counts as equal, in probits, > 0.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> q = 1000 * ndtr(-4.0) / 1e-3  # 1000 tilted games that are accepted with probability Phi(-4) / B
        >>> out = ScaledRates([round(q)], [1000], [1e-3], [False])
        >>> inside = ScaledRates([1587], [10_000], [1.0], [True])
        >>> found = compare_rates(out, inside, GaussianTradeOff(3.0), tolerance=0.25)
        >>> found.verdict, [round(end, 2) for end in found.interval]
        ('CONFIRMED', [-0.14, 0.16])
    """
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    margin = number("tolerance", tolerance, 0.0, low_open=True)
    if not all(callable(getattr(claim, name, None)) for name in ("beta", "tpr_at", "probit_beta")):
        raise ValueError(
            f"claim is {type(claim).__name__}; it must be a trade-off function, e.g. GaussianTradeOff(1)"
        )
    k = out.count.size
    if inside.count.size != k:
        raise ValueError(f"inside has {inside.count.size} rates; it must have {k}, like out")
    rarest = np.minimum(out.rarest_cell, inside.rarest_cell)
    used = rarest >= LEAST_COUNT
    probit = critical_probit(risk, k)
    estimate, low, high, p_value = np.full(k, np.nan), np.full(k, -np.inf), np.full(k, np.inf), np.ones(k)
    if used.any():
        some, other = _part(out, used), _part(inside, used)
        p_value[used] = np.minimum(1.0, 4.0 * ndtr(-np.sqrt(_profile(some, other, claim))))
        low[used], high[used] = _gap_bounds(some, other, claim, probit**2)
        estimate[used] = claim.probit_beta(some.rate) - other.probit
    z, step = _finite_probit(out), 1e-3
    rise, fall = claim.probit_beta(ndtr(z + step)), claim.probit_beta(ndtr(z - step))
    known = np.isfinite(rise) & np.isfinite(fall)
    slope = np.where(known, (np.where(known, rise, 0.0) - np.where(known, fall, 0.0)) / (2 * step), np.inf)
    error = np.sqrt(slope**2 * out.probit_variance() + inside.probit_variance())
    half_width, detectable = widths_and_detectable(probit, error, low, estimate, high, rarest)
    return Comparison(
        estimate=estimate,
        low=low,
        high=high,
        used=used,
        standard_error=error,
        half_width=half_width,
        detectable=detectable,
        failure_probability=risk,
        tolerance=margin,
        claim=str(claim),
        alpha=out.rate,
        beta=inside.rate,
        p_value=p_value,
        out_games=int(out.games.min()),
        in_games=int(inside.games.min()),
    )


def _part(rates: ScaledRates, chosen: np.ndarray) -> ScaledRates:
    return ScaledRates(
        rates.count[chosen], rates.games[chosen], rates.scale[chosen], rates.complement[chosen]
    )


def _finite_probit(rates: ScaledRates) -> np.ndarray:
    return np.clip(rates.probit, -37.0, 8.0)


def _profile(out: ScaledRates, inside: ScaledRates, claim: AbstractTradeOff) -> np.ndarray:
    """Min over a of the two deviances, a between the observed FPR and where the claim passes the observed FNR."""
    low, high = np.full(out.count.size, -38.0), np.full(out.count.size, 8.25)
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = claim.probit_beta(ndtr(middle)) > inside.probit
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    left, right = np.minimum(out.probit, low)[:, None], np.maximum(out.probit, high)[:, None]
    best, steps = np.full(out.count.size, np.inf), np.linspace(0.0, 1.0, _POINTS)
    for _ in range(_ZOOM):
        z = left + (right - left) * steps
        alpha = ndtr(z)
        total = out.deviance_at(alpha, ndtr(-z)) + inside.deviance_at(claim.beta(alpha), claim.tpr_at(alpha))
        at = total.argmin(axis=1)[:, None]
        best = np.minimum(best, np.take_along_axis(total, at, axis=1)[:, 0])
        left = np.take_along_axis(z, np.maximum(at - 1, 0), axis=1)
        right = np.take_along_axis(z, np.minimum(at + 1, _POINTS - 1), axis=1)
    return best


def _gap_bounds(
    out: ScaledRates, inside: ScaledRates, claim: AbstractTradeOff, critical: float
) -> tuple[np.ndarray, np.ndarray]:
    """Extremes of Phi^-1(g(a)) - Phi^-1(b) where the two deviances spend at most `critical`, rounded outwards."""
    ends = []
    for side in (1, 0):  # larger rates give the least gap, smaller ones the largest
        (a, spent), (b, spendable) = out.path(critical, side), inside.path(critical, side)
        reach = np.stack(
            [np.searchsorted(e, critical - d, side="left") for e, d in zip(spendable, spent, strict=True)]
        )
        reached = np.take_along_axis(b, np.minimum(reach, _CELLS), axis=1)[:, :-1]
        gap = claim.probit_beta(ndtr(a[:, 1:])) - reached
        ends.append(gap.min(axis=1) if side else gap.max(axis=1))
    return ends[0], ends[1]
