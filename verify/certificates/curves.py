"""Curves by formulas: each has points, pairs of an FPR and a TPR, and is evaluated at a given FPR where that is a formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from verify.certificates.numbers import (
    NoFormula,
    add,
    binary,
    chi_cdf,
    chi_ppf,
    div,
    exp,
    known,
    largest,
    lifted,
    mul,
    neg,
    phi,
    power,
    probit,
    sub,
    value_of,
)

LARGEST = 12_000
"""Degrees of freedom and non-centrality of a law that the checker sums in good time."""


class Curve:
    """A trade-off function by a formula of its TPR."""

    def tpr_at(self, fpr: Any) -> Any:
        raise NoFormula(type(self).__name__)

    def point(self, fpr: float) -> tuple[Any, Any]:
        """(FPR, TPR) near an FPR."""
        at = binary(fpr)
        return at, self.tpr_at(at)

    def beta(self, fpr: Any) -> Any:
        return lifted(lambda x: sub(1, self.tpr_at(x)))(fpr)

    def tpr_bounds(self, fpr: Any) -> Any:
        return (self.tpr_at(fpr),) * 2

    def beta_bounds(self, fpr: Any) -> Any:
        return (self.beta(fpr),) * 2

    def probit_beta(self, fpr: Any) -> Any:
        return lifted(lambda x: neg(probit(known(x))))(self.tpr_at(fpr))

    def probit_beta_bounds(self, fpr: Any) -> Any:
        return (self.probit_beta(fpr),) * 2

    def advantage(self) -> Any:
        raise NoFormula(type(self).__name__)

    def advantage_bounds(self) -> Any:
        return (self.advantage(),) * 2

    def delta(self, epsilon: Any) -> Any:
        raise NoFormula(type(self).__name__)

    def delta_bounds(self, epsilon: Any) -> Any:
        return (self.delta(epsilon),) * 2

    def inverse(self) -> Curve:
        return Inverse(self)


class Inverse(Curve):
    """The worlds exchanged: only points are known."""

    def __init__(self, inner: Curve) -> None:
        self.inner = inner

    def point(self, fpr: float) -> tuple[Any, Any]:
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if 1.0 - value_of(self.inner.point(middle)[1]) > fpr else (low, middle)
        alpha, tpr = self.inner.point(high)
        return sub(1, tpr), sub(1, alpha)


class Gaussian(Curve):
    """A shift of normal noise."""

    def __init__(self, mu: Any) -> None:
        self.mu = mu

    def tpr_at(self, fpr: Any) -> Any:
        return lifted(lambda x: phi(add(self.mu, probit(known(x)))))(fpr)

    def advantage(self) -> Any:
        half = div(self.mu, 2)
        return sub(phi(half), phi(neg(half)))

    def delta(self, epsilon: Any) -> Any:
        half, far = div(self.mu, 2), div(epsilon, self.mu)
        return sub(phi(sub(half, far)), mul(exp(epsilon), phi(neg(add(half, far)))))


class Laplace(Curve):
    """A shift of Laplace noise."""

    def __init__(self, mu: Any) -> None:
        self.mu = mu

    def tpr_at(self, fpr: Any) -> Any:
        def at(x: Any) -> Any:
            small = exp(neg(self.mu))
            if value_of(x) >= 0.5:
                return sub(1, mul(sub(1, x), small))
            return (
                mul(x, exp(self.mu)) if 2 * value_of(x) <= value_of(small) else sub(1, div(small, mul(4, x)))
            )

        return lifted(at)(fpr)


class FoldedLaplace(Curve):
    """The magnitude of Laplace noise."""

    def __init__(self, mu: Any) -> None:
        self.mu = mu

    def tpr_at(self, fpr: Any) -> Any:
        def at(x: Any) -> Any:
            if value_of(x) <= value_of(exp(neg(self.mu))):
                return mul(x, div(add(exp(self.mu), exp(neg(self.mu))), 2))
            return sub(1, mul(exp(neg(self.mu)), div(sub(div(1, x), x), 2)))

        return lifted(at)(fpr)


class Promise(Curve):
    """(epsilon, delta)-DP."""

    def __init__(self, at_epsilon: Any, at_delta: Any) -> None:
        self.odds, self.sure = exp(known(at_epsilon)), at_delta

    def tpr_at(self, fpr: Any) -> Any:
        def at(x: Any) -> Any:
            far = largest(
                sub(sub(1, self.sure), mul(self.odds, x)), div(sub(sub(1, self.sure), x), self.odds)
            )
            return sub(1, largest(0, far))

        return lifted(at)(fpr)

    def advantage(self) -> Any:
        return add(self.sure, mul(sub(1, self.sure), div(sub(self.odds, 1), add(self.odds, 1))))


class Mixture(Curve):
    """A curve with a coin before it."""

    def __init__(self, inner: Curve, sampling_rate: Any) -> None:
        self.inner, self.rate = inner, sampling_rate

    def tpr_at(self, fpr: Any) -> Any:
        return lifted(lambda x: add(mul(self.rate, self.inner.tpr_at(x)), mul(sub(1, self.rate), x)))(fpr)


class ChiSquare(Curve):
    """Two scaled (non-central) chi-square laws."""

    def __init__(
        self, d: Any, out_noncentrality: Any, in_noncentrality: Any, out_scale: Any = 1.0, in_scale: Any = 1.0, rejects: str = "large"
    ) -> None:  # fmt: skip
        self.d, self.out, self.inside = map(known, (d, out_noncentrality, in_noncentrality))
        self.rejects = rejects
        if max(value_of(self.d), value_of(self.out), value_of(self.inside)) > LARGEST:
            raise NoFormula("a sum has too many terms")
        self.scale = 1 if value_of(out_scale) == value_of(in_scale) else div(known(out_scale), in_scale)

    def _rate(self, x: Any, off: Any) -> Any:
        below = chi_cdf(known(x), self.d, off)
        return below if self.rejects == "small" else sub(1, below)

    def tpr_at(self, fpr: Any) -> Any:
        def at(x: Any) -> Any:
            cut = chi_ppf(known(x) if self.rejects == "small" else sub(1, known(x)), self.d, self.out)
            return self._rate(mul(cut, self.scale), self.inside)

        return lifted(at)(fpr)

    def point(self, fpr: float) -> tuple[Any, Any]:
        cut = value_of(
            chi_ppf(*map(value_of, (fpr if self.rejects == "small" else 1.0 - fpr, self.d, self.out)))
        )
        cut = binary(cut)
        return self._rate(cut, self.out), self._rate(mul(cut, self.scale), self.inside)


class Rates(Curve):
    """A curve by a function that returns (FNR, TPR) at an array of FPRs."""

    def __init__(self, both: Callable[[Any], Any]) -> None:
        self.both = both

    def tpr_at(self, fpr: Any) -> Any:
        def at(x: Any) -> Any:
            array = np.empty(1, object)
            array[0] = x
            return self.both(array)[1].ravel()[0]

        return lifted(at)(fpr)


class Sums(Curve):
    """Gradients +-1 and noise on their sum: mixtures of normal laws, by a threshold."""

    def __init__(self, n: Any, shift: Any, own: Any = 0.5, target: Any = 1.0) -> None:
        self.n, self.shift, self.own, self.target = n, shift, own, target

    def _tail(self, n: int, certain: Any, cut: Any) -> Any:
        total: Any = 0
        for k in range(n + 1):
            weight = mul(mul(math.comb(n, k), power(self.own, k)), power(sub(1, self.own), n - k))
            total = add(total, mul(weight, phi(sub(mul(self.shift, add(2 * k - n, certain)), cut))))
        return total

    def point(self, fpr: float) -> tuple[Any, Any]:
        n, plain = int(self.n), Sums(self.n, *map(value_of, (self.shift, self.own, self.target)))
        low, high = (sign * float(value_of(self.shift) * (n + 1) + 40.0) for sign in (-1.0, 1.0))
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if plain._tail(n, 0, middle) > fpr else (low, middle)
        cut = binary(low)
        return self._tail(n, 0, cut), self._tail(n - 1, self.target, cut)


class Normal(Curve):
    """N(0, 1) against N(mu, scale^2)-like scores, by a threshold."""

    def __init__(self, mu: Any, scale: Any) -> None:
        self.mu, self.scale = mu, scale

    def tpr_at(self, fpr: Any) -> Any:
        return lifted(lambda x: phi(div(add(mul(self.mu, self.scale), probit(known(x))), self.scale)))(fpr)


CURVES: dict[str, Callable[..., Any]] = {
    "GaussianTradeOff": Gaussian,
    "LaplaceTradeOff": Laplace,
    "FoldedLaplaceTradeOff": FoldedLaplace,
    "FoldedGaussianTradeOff": lambda mu: ChiSquare(1, 0, mul(mu, mu)),
    "ApproxDPTradeOff": Promise,
    "MixtureTradeOff": Mixture,
    "NoncentralChiSquareTradeOff": ChiSquare,
}


def curve_of(curve: Any) -> Any:
    """A curve of the library by its formula."""
    name = type(curve).__name__
    if isinstance(curve, Curve):
        return curve
    if name in ("GaussianTradeOff", "LaplaceTradeOff", "FoldedLaplaceTradeOff"):
        return CURVES[name](binary(curve.mu))
    if name == "ApproxDPTradeOff":
        return Promise(binary(curve.at_epsilon), binary(curve.at_delta))
    if name == "MixtureTradeOff":
        return Mixture(curve_of(curve.inner), binary(curve.sampling_rate))
    if name == "NoncentralChiSquareTradeOff":
        fields = ("d", "out_noncentrality", "in_noncentrality", "out_scale", "in_scale")
        return ChiSquare(*[binary(getattr(curve, field)) for field in fields], rejects=curve.rejects)
    if name == "NoisySumTradeOff":
        return Sums(curve.n, *(binary(getattr(curve, field)) for field in ("shift", "own", "target")))
    if name == "NormalCurve" and curve.error_out == 0.0 == curve.error_in:
        return Normal(binary(curve.mu), binary(curve.scale))
    raise NoFormula(name)
