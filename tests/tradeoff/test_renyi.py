"""Renyi divergences and rho against quadrature, sums of atoms and closed forms, each with a control that is 3% off."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import laplace, norm

import mipsim as mi
from mipsim.tradeoff import FoldedLaplaceTradeOff, InverseTradeOff, MixtureTradeOff
from tests.peers import peer

ORDERS = (1.2, 2.0, 7.5, 40.0)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
Z = 0.125 * NODES + np.arange(-59.875, 150.0, 0.25)[:, None]
OUT = norm.logpdf(Z)


def mixed(mu: float, p: float) -> np.ndarray:
    return np.logaddexp(math.log(p) + norm.logpdf(Z, mu), math.log1p(-p) + OUT)


def total(*logs: np.ndarray, above: float = -math.inf) -> float:
    """The log of the integral of a sum, by Gauss and Legendre in cells of a quarter, at whose ends the kinks are."""
    return float(np.asarray(logsumexp([log + np.log(0.125 * WEIGHTS) for log in logs], b=above < Z)))


def by_quadrature(inside: np.ndarray, out: np.ndarray) -> Callable[[float], float]:
    return lambda a: total(a * inside + (1 - a) * out) / (a - 1)


def hull(mu: float, p: float) -> Callable[[float], float]:
    """The losses above 0 of both directions, and else a loss of 0."""
    x, y = mixed(mu, p), OUT

    def divergence(a: float) -> float:
        shown = total(a * x + (1 - a) * y, a * y + (1 - a) * x, above=mu / 2)
        return np.logaddexp(shown, math.log(1 - math.exp(total(x, y, above=mu / 2)))) / (a - 1)

    return divergence


def atoms(inside: list[float], out: list[float]) -> Callable[[float], float]:
    return lambda a: (
        math.log(math.fsum(p**a * q ** (1 - a) for p, q in zip(inside, out, strict=True))) / (a - 1)
    )


E = math.exp(1.0)
HALF = MixtureTradeOff(mi.GaussianTradeOff(1.5), 0.05)
ROWS: list[tuple[mi.AbstractTradeOff, Callable[[float], float]]] = [
    (mi.GaussianTradeOff(0.7), lambda a: 0.5 * a * 0.49),
    (mi.LaplaceTradeOff(0.5), by_quadrature(laplace.logpdf(Z, 0.5), laplace.logpdf(Z))),
    (HALF, by_quadrature(mixed(1.5, 0.05), OUT)),
    (HALF.inverse(), by_quadrature(OUT, mixed(1.5, 0.05))),
    (mi.dpsgd(2 / 1.5, 0.05, neighbours="replace", sampling="fixed_size"), hull(1.5, 0.05)),
    (mi.dpsgd(2 / 0.3, 0.01, neighbours="replace", sampling="fixed_size"), hull(0.3, 0.01)),  # which bends beyond all orders
    (mi.ApproxDPTradeOff(1.0), atoms([E / (1 + E), 1 / (1 + E)], [1 / (1 + E), E / (1 + E)])),
]  # fmt: skip


@pytest.mark.parametrize(("curve", "truth"), ROWS, ids=lambda row: type(row).__name__)
def test_a_divergence_lies_between_its_ends(
    curve: mi.AbstractTradeOff, truth: Callable[[float], float]
) -> None:
    low, high = curve.to_rdp(ORDERS)
    known = np.array([truth(order) for order in ORDERS])
    assert (low <= known * (1.0 + 1e-9)).all()
    assert (known <= high * (1.0 + 1e-9)).all()
    assert ((1.03 * known > high) & (0.97 * known < low)).all()
    assert (np.diff(low) > 0.0).all()


def test_a_composition_has_the_sum_and_two_directions_the_worse() -> None:
    three = mi.compose(HALF, mi.LaplaceTradeOff(0.6), copies=[2, 1])
    parts: Any = [2.0 * end for end in HALF.to_rdp(2.0)], mi.LaplaceTradeOff(0.6).to_rdp(2.0)
    assert three.to_rdp(2.0) == pytest.approx([sum(ends) for ends in zip(*parts, strict=True)], rel=1e-12)
    back = three.inverse().to_rdp(2.0)
    assert back[1] < three.to_rdp(2.0)[0]
    assert three.symmetrized().to_rdp(2.0) == three.to_rdp(2.0)


@pytest.mark.evidence
def test_what_is_not_known_is_wide_but_holds() -> None:
    """A pure privacy loss bounds a divergence; a tail of which nothing is known leaves it infinite above."""
    folded = FoldedLaplaceTradeOff(1.0)
    low, high = folded.to_rdp(3.0)
    turned = InverseTradeOff(InverseTradeOff(folded)).to_rdp(3.0)
    assert 0.0 < low <= high <= 1.0
    assert turned[0] <= high
    allocated = mi.dpsgd(1.0, 0.1, 10, sampling="random_allocation")
    assert allocated.to_rdp(2.0)[1] == math.inf
    with pytest.raises(ValueError, match="has no rho that is proven"):
        allocated.to_zcdp()
    assert mi.ApproxDPTradeOff(1.0, 1e-9).to_zcdp() == (math.inf, math.inf)


@pytest.mark.parametrize(
    ("curve", "rho"),
    [
        (mi.GaussianTradeOff(0.7), 0.245),
        (mi.dpsgd(2.0, 0.3, 10), 1.25),  # at large orders sampling does not help
        (mi.dpsgd(2.0, 0.3, 10, neighbours="replace", sampling="fixed_size"), 5.0),
        (mi.ApproxDPTradeOff(1.0), math.tanh(0.5)),  # at the order 1, the Kullback-Leibler divergence
        (mi.LaplaceTradeOff(0.6), 0.6 + math.exp(-0.6) - 1.0),
        (
            mi.compose(mi.LaplaceTradeOff(0.6), mi.GaussianTradeOff(0.7), copies=[1, 2]),
            0.6 + math.exp(-0.6) - 0.51,
        ),
    ],
)
def test_rho_lies_between_its_ends(curve: mi.AbstractTradeOff, rho: float) -> None:
    low, high = curve.to_zcdp()
    assert low <= rho * (1.0 + 1e-12)
    assert rho * (1.0 - 1e-12) <= high < 1.03 * rho
    assert low > 0.97 * rho
    assert curve.to_rdp(5.0)[0] <= 5.0 * high


def test_dp_accounting_has_the_same_divergences_at_whole_orders() -> None:
    rdp = peer("dp_accounting.rdp.rdp_privacy_accountant")
    orders = [2, 3, 8, 32]
    for q, noise in ((0.01, 1.0), (0.3, 0.5), (1e-4, 0.3)):
        theirs = rdp._compute_rdp_poisson_subsampled_gaussian(q=q, noise_multiplier=noise, orders=orders)
        low, high = mi.dpsgd(noise, q).to_rdp(orders)
        assert (low <= theirs * (1.0 + 1e-9)).all()
        assert (theirs <= high * (1.0 + 1e-9)).all()
