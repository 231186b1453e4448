"""Between which losses a sum of privacy losses lies, by Chernoff's bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

_LOG_TAIL = np.log(1e-18)  # what may lie outside the window of the sum of losses
_COARSE = np.geomspace(1e-3, 1e3, 7)  # orders that are tried in any case
_ORDERS = np.geomspace(1e-3, 1e3, 13)  # two a decade


class _Masses(Protocol):
    """Losses with their masses in both worlds, each of shape (m,)."""

    @property
    def losses(self) -> np.ndarray: ...
    @property
    def out_masses(self) -> np.ndarray: ...
    @property
    def in_masses(self) -> np.ndarray: ...


class Window(NamedTuple):
    """Losses between which a sum lies, and the orders (for the low end, for the high one) of the moments that show it best."""

    low: float
    high: float
    orders: tuple[float, float]


def _window(laws: Sequence[tuple[_Masses, int]], orders: np.ndarray) -> Window:
    """Losses between which the sum lies but for 1e-18, in either world, by Chernoff's bound; any orders give a bound.

    Args:
        laws: what is summed, and how often.
        orders: of the moments that are tried, shape (k,), > 0.
    """
    highest, lowest = np.zeros(orders.size), np.zeros(orders.size)
    most = least = 0.0
    for law, count in laws:
        seen = (law.out_masses > 0.0) | (law.in_masses > 0.0)
        if not seen.any():
            continue
        losses = law.losses[seen]
        most, least = most + count * float(losses.max()), least + count * float(losses.min())
        with np.errstate(divide="ignore"):
            log_in, log_out = np.log(law.in_masses[seen]), np.log(law.out_masses[seen])
        highest += count * np.array([_log_sum(log_in + order * losses) for order in orders])
        lowest += count * np.array([_log_sum(log_out - order * losses) for order in orders])
    above, below = (highest - _LOG_TAIL) / orders, (lowest - _LOG_TAIL) / orders
    best = float(orders[np.argmin(below)]), float(orders[np.argmin(above)])
    width = 1e-9 + 1e-6 * (most - least)
    # Room for the cell by which a split may raise a loss, and for both signs.
    low, high = max(least, -float(below.min())), min(most, float(above.min()))
    return Window(min(low, 0.0) - width, max(high, 0.0) + width, best)


def narrow_window(laws: Sequence[tuple[_Masses, int]]) -> Window:
    """The window by two orders a decade, then by twenty around the best of them: about the least of all orders.

    Examples:
        >>> from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
        >>> coin = PrivacyLossDistribution([1.0, -1.0], [0.26894142, 0.73105858], [0.73105858, 0.26894142])
        >>> found = narrow_window([(coin, 10_000)])
        >>> 4000.0 < found.high < 6000.0  # the mean is 4,621 "in", a deviation 89
        True
    """
    near = 10.0 ** np.linspace(-0.5, 0.5, 21)
    best = _window(laws, _ORDERS).orders
    return _window(laws, np.unique(np.outer(best, near).ravel()))


def _log_sum(logs: np.ndarray) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum())) if math.isfinite(top) else top


def widened(window: Window, laws: Sequence[tuple[_Masses, int]]) -> Window:
    """The window, widened to that of the laws on the grid, of many copies of which the sum drifts.

    Mass beyond the window would come back on its other side, and what it reveals would be lost.
    """
    own = _window(laws, np.array(window.orders))
    if own.high - own.low > 2.0 * (window.high - window.low):  # other orders may show less
        near = np.outer(window.orders, 2.0 ** np.arange(-4, 5)).ravel()
        own = _window(laws, np.unique(np.concatenate([near, _COARSE])))
    return Window(min(window.low, own.low), max(window.high, own.high), window.orders)
