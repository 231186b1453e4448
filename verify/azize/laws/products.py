"""The optimal curve of many independent coordinates of which each lies between two tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mipsim.exact.rounding import EPS
from mipsim.tradeoff import AbstractTradeOff, ApproxDPTradeOff, CurveBounds
from mipsim.tradeoff.bounds import completed, log_complement
from mipsim.tradeoff.loss_sum import LossSum
from mipsim.tradeoff.step_laws import Atoms, Polygons
from verify.azize.laws.coordinate_tables import BracketedTerms
from verify.azize.laws.terms import Terms

ACCURACY = 5e-4
"""Relative width of rates and divergences that is aimed at: some 1.5e-4 probits, a hundredth of what is tolerated."""

IN_SIGHT = 1e-5
"""FPRs and FNRs from here on are known to `ACCURACY`; claims are judged from 1e-4 on."""

_PLACES = 1 << 20
_RATES = np.log(
    np.array([IN_SIGHT, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 1 - 1e-4, 1 - IN_SIGHT])
)


class ProductTradeOff(AbstractTradeOff):
    """The optimal curve of many independent coordinates, between those of their tables.

    Its bounds are computed once, for FPRs and FNRs from 1e-5 on, and are valid and wider beyond.

    Source: Blackwell (1953), for the order of experiments, which products keep.

    >>> from verify.azize.laws.terms import binomial_terms
    >>> curve = product_tradeoff([BracketedTerms.exactly(binomial_terms(100, 0.5, 1, 100))])  # m = 1: nearly 1-GDP
    >>> low, high = curve.beta_bounds(0.1)
    >>> print(round(float(low), 2), bool(0 < high - low < 1e-4))
    0.61 True
    """

    losses: LossSum  # the sum of the tables' log ratios
    error: float  # bound on the error of any probability of all coordinates together
    turned: bool = False  # whether the worlds are exchanged

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        x = np.asarray(log_fpr, np.float64).ravel()
        y = log_complement(x)
        # The tables' FPR of a test may be above the true FPR, or below.
        off = self.error
        moved = (
            np.concatenate([_moved(x, off), _moved(x, -off)]),
            np.concatenate([_moved(y, -off), _moved(y, off)]),
        )
        result, _ = self.losses.curve(*moved, math.inf, self.turned)
        bounds = completed(CurveBounds(*result), *moved)
        more, fewer = slice(None, x.size), slice(x.size, None)
        ends = CurveBounds(
            _moved(bounds.log_fnr_low[more], -off),
            _moved(bounds.log_fnr_high[fewer], off),
            _moved(bounds.log_tpr_low[fewer], -off),
            _moved(bounds.log_tpr_high[more], off),
        )
        return CurveBounds(*(end.reshape(np.shape(log_fpr)) for end in completed(ends, x, y)))

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return ProductTradeOff(self.losses, self.error, not self.turned)

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = np.asarray(epsilon, np.float64).ravel()
        ends = self.losses.log_delta(at, ACCURACY, self.turned)
        off = self.error * (1.0 + np.exp(np.minimum(at, 700.0)))
        low, high = (_moved(end, way * off) for end, way in zip(ends, (-1.0, 1.0), strict=True))
        return low.reshape(np.shape(epsilon)), high.reshape(np.shape(epsilon))


def _moved(log_rate: np.ndarray, off: np.ndarray | float) -> np.ndarray:
    """Logarithms of rates that are `off` larger, and rounded that way; within [0, 1]."""
    way = np.sign(off)
    with np.errstate(divide="ignore"):
        return np.log(np.clip(np.exp(log_rate) * (1.0 + way * 8.0 * EPS) + off, 0.0, 1.0))


def product_tradeoff(groups: Sequence[BracketedTerms]) -> AbstractTradeOff:
    """The optimal curve of all coordinates together.
    `groups`: tables of a weaker and a stronger attacker for each kind of coordinate.
    """
    laws, error = [], 0.0
    for group in groups:
        weaker, lost = _atoms(group.weaker)
        stronger = weaker
        if group.stronger is not group.weaker:
            stronger, more = _atoms(group.stronger)
            lost = max(lost, more)
        # Masses "in" are those "out" times the ratio, up to its rounding.
        ratios = float(np.abs(stronger[0]).max(initial=0.0))
        # The cells of a continuous law have no loss of their own; all together have the loss 0.
        fixed = None if stronger is weaker else 0.0
        laws.append(
            (
                Polygons(
                    stronger,
                    weaker,
                    group.relative + EPS * (ratios + 8.0),
                    fixed,
                    sampled=stronger is not weaker,
                ),
                group.count,
            )
        )
        error += 1.01 * group.count * (group.error + lost)
    if any(law.upper[-1] == 1.0 for law, _ in laws):
        return ApproxDPTradeOff(0.0, 1.0)  # a single coordinate tells all
    losses = LossSum(laws, places=_PLACES)
    middle = np.log(np.full(1, 0.5))
    losses.curve(middle, middle, ACCURACY, False)
    known, _ = losses.curve(_RATES, log_complement(_RATES), math.inf, False)
    seen = _RATES[~(known[1] < math.log(IN_SIGHT))]
    losses.curve(seen, log_complement(seen), ACCURACY, False)
    return ProductTradeOff(losses, error)


def _atoms(table: Terms) -> tuple[Atoms, float]:
    """The table by falling log ratio, and what it holds in a single world where the other's mass has underflown."""
    finite = np.isfinite(table.ratio) & (table.out > 0.0)
    order = np.argsort(-table.ratio[finite], kind="stable")
    losses, out = table.ratio[finite][order], table.out[finite][order]
    out_only, in_only = (
        float(mass[table.ratio == end].sum()) for mass, end in ((table.out, -np.inf), (table.inside, np.inf))
    )
    lost = float(table.inside[np.isfinite(table.ratio) & (table.out == 0.0)].sum())
    return (losses, out, out * np.exp(losses), out_only, in_only), lost
