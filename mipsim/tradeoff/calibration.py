"""The least noise with which a mechanism keeps to a wanted risk."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache

from mipsim._budget import check_budget
from mipsim._validation import flag, member, number
from mipsim._words import kind_of
from mipsim.tradeoff.base import KNOWN, AbstractTradeOff
from mipsim.tradeoff.bounds import lowered
from mipsim.tradeoff.compose import ComposedTradeOff

_LEAST_NOISE, _MOST_NOISE = 1e-3, 1e6  # outside is no mechanism: mu would be 1000, or a millionth
FINE = 1e-5
"""Relative width at which a composed curve is accounted for and its least noise reported, and that of its epsilon."""
_COARSE = 1e-3  # relative width of a composed curve's numbers while the root is looked for
_NEARLY = 1e-4  # relative width of the delta that is looked at in the end
# of the budget of a question, of which there are some thirty: a wider bound is on the safe side
_SHARE = 1.0 / 8.0
_RELATIVE = 1e-12  # four digits above float64 rounding; the result is nudged to the safe side of the root


def calibrate(
    curve_of_noise: Callable[[float], AbstractTradeOff],
    *,
    advantage: float | None = None,
    eta: float | None = None,
    mu: float | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    least: float = _LEAST_NOISE,
    most: float = _MOST_NOISE,
    both_directions: bool = True,
) -> float:
    """The least noise at which the curve meets a target; `least` if that is enough.

    Every number is the safe end of its bounds, so that the noise is never too small: at it `mipsim.account` prints no upper end above
    the target. It is too large by a relative 1e-12 for a curve in closed form, and by about 1e-5 for a composed curve, whose bounds have a width.

    Args:
        curve_of_noise: the trade-off function at a noise > 0; more noise must be more private.
        advantage: the largest TPR - FPR, in (0, 1).
        eta: half of it, in (0, 1/2).
        mu: the curve shall be mu-GDP, > 0.
        tpr: the largest TPR at the FPR `fpr`, in (fpr, 1).
        fpr: in (0, 1).
        epsilon: the curve shall be (epsilon, delta)-DP, >= 0.
        delta: in [0, 1).
        least: the least noise that is tried, > 0.
        most: the largest, > least.
        both_directions: whether the inverse of the curve must keep to it too.

    Raises:
        ValueError: if not exactly one target is given, a target is outside its range, or no noise up to `most`
            reaches it.

    Source: Kulynych et al. (2024), "Attack-aware noise calibration for differential privacy".

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> round(calibrate(lambda sigma: GaussianTradeOff(1 / sigma), mu=0.5), 9)
        2.0
        >>> calibrate(lambda sigma: GaussianTradeOff(1.0), advantage=0.1)
        Traceback (most recent call last):
        ...
        ValueError: no noise up to 1e+06 reaches advantage <= 0.1
    """
    member("curve_of_noise", curve_of_noise, Callable, "a function from a noise to a trade-off function")
    number("least", least, 0.0, low_open=True)
    number("most", most, least, low_open=True)
    low, high = ends = math.log(least), math.log(most)
    excess, printed, words = _target(
        advantage, eta, mu, (tpr, fpr), (epsilon, delta), flag("both_directions", both_directions)
    )

    def noise_at(log_noise: float) -> float:
        return float(dict(zip(ends, (least, most), strict=True)).get(log_noise, math.exp(log_noise)))

    @cache  # the root finder asks for the ends of its bracket again
    def at(log_noise: float, accuracy: float) -> float:
        check_budget()
        curve: object = curve_of_noise(noise := noise_at(log_noise))
        if not isinstance(curve, AbstractTradeOff):
            raise ValueError(
                f"curve_of_noise gives {kind_of(curve)} at the noise {noise:g}; it must give {KNOWN}, such as "
                "GaussianTradeOff(1 / noise)"
            )
        if isinstance(curve, ComposedTradeOff):
            composed.append(curve.accuracy)
            curve = curve.at_accuracy(max(accuracy, curve.accuracy))._sparing(_SHARE)
        with warnings.catch_warnings():  # a wide bound is on the safe side
            warnings.simplefilter("ignore", UserWarning)
            value = excess(curve)
        return min(value, 1e3)  # inf would leave the root finder without a slope

    composed: list[float] = []
    # Walk from 1 towards the root: at the far ends curves are costly and flat.
    middle, step = min(max(0.0, low), high), 0.7
    further = middle
    if at(middle, _COARSE) > 0.0:
        while middle < high and at(further := min(middle + step, high), _COARSE) > 0.0:
            middle = further
        if middle == high:
            raise ValueError(f"no noise up to {most:g} reaches {words}")
        low, high = middle, further
    else:
        while middle > low and at(further := max(middle - step, low), _COARSE) <= 0.0:
            middle = further
        if middle == low:
            return float(least)
        low, high = further, middle
    from scipy.optimize import brentq  # a fourth of a second: not when the library is imported

    exact = not composed
    within = _RELATIVE if exact else 0.1 * _COARSE
    root: float = brentq(at, low, high, args=(_COARSE,), xtol=within)  # type: ignore[assignment]
    if exact:
        nudge = _RELATIVE
        while at(root, 0.0) > 0.0:  # the root finder may stop on the wrong side
            root, nudge = root + nudge, 2.0 * nudge
    else:
        root = _polished(at, root, min(composed))
    noise, nudge = noise_at(root), _RELATIVE if exact else 0.3 * FINE
    while _exceeds(printed, curve_of_noise(noise)):
        check_budget()
        noise, nudge = noise * (1.0 + nudge), 2.0 * nudge
    return noise


def _exceeds(printed: Excess, curve: AbstractTradeOff) -> bool:
    """Whether a number that `account` prints of the curve, which has answered nothing yet, may be above the target."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return printed(curve.at_accuracy(FINE, FINE) if isinstance(curve, ComposedTradeOff) else curve) > 0.0


def worse_tpr(curve: AbstractTradeOff, fpr: float, both: bool) -> tuple[float, float]:
    """Bounds of the TPR; not that of the hull of both directions, since the null is either world, and no mixture."""
    low, high = zip(*(c.tpr_bounds(fpr) for c in _directions(curve, both)), strict=True)
    return max(low), max(high)


def _polished(at: Callable[[float, float], float], root: float, accuracy: float) -> float:
    """A point that keeps to the target by finer bounds, a few widths of these above the least: by Newton's steps of the coarse slope, and
    from points on both sides on by secants, or halves where a secant does not halve what is left: there the excess may jump.
    """
    accuracy, reach = max(accuracy, FINE), 30.0 * _COARSE
    fall = max((at(root - reach, _COARSE) - at(root + reach, _COARSE)) / (2.0 * reach), 1e-3)
    nudge, low, high, halved = 0.3 * accuracy, (-math.inf, 0.0), (math.inf, 0.0), True
    while True:
        excess, before = at(root, accuracy), high[0] - low[0]
        if -4.0 * nudge * fall <= excess <= 0.0:
            return root
        low, high = ((root, excess), high) if excess > 0.0 else (low, (root, excess))
        if (left := high[0] - low[0]) <= 4.0 * nudge:
            return high[0]
        if left < math.inf:
            halved = not halved or left <= 0.5 * before
            share = low[1] / (low[1] - high[1]) if halved else 0.5
            root = min(low[0] + share * left + nudge, high[0] - nudge)
        else:
            root += min(max(excess / fall, -reach), reach) + nudge
            reach *= 1.5


Excess = Callable[[AbstractTradeOff], float]


def _target(
    advantage: float | None,
    eta: float | None,
    mu: float | None,
    rates: tuple[float | None, float | None],
    budget: tuple[float | None, float | None],
    both: bool,
) -> tuple[Excess, Excess, str]:
    """How far, relatively, a curve is beyond the target that was given; the same of what is printed; and the target in words."""
    pairs = {"tpr and fpr": rates, "epsilon and delta": budget}
    for name, pair in pairs.items():
        if (pair[0] is None) != (pair[1] is None):
            raise ValueError(f"{name} must be given together; exactly one is None")
    targets = {
        "advantage": advantage,
        "eta": eta,
        "mu": mu,
        **{name: pair[0] for name, pair in pairs.items()},
    }
    given = [name for name, value in targets.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"the targets given are {', '.join(given) or 'none'}; give exactly one of advantage, eta, mu,"
            " tpr and fpr, epsilon and delta"
        )
    if advantage is not None:
        most = number("advantage", advantage, 0.0, 1.0, low_open=True, high_open=True)
        return *_upper(lambda curve: curve.advantage(), most, both), f"advantage <= {most:g}"
    if eta is not None:
        half = number("eta", eta, 0.0, 0.5, low_open=True, high_open=True)
        return *_upper(lambda curve: curve.eta(), half, both), f"eta <= {half:g}"
    if mu is not None:
        shift = number("mu", mu, 0.0, low_open=True)
        return *_upper(lambda curve: curve.least_mu(), shift, False), f"mu <= {shift:g}"
    if rates[0] is not None:
        at = number("fpr", rates[1], 0.0, 1.0, low_open=True, high_open=True)
        power = number("tpr", rates[0], at, 1.0, low_open=True, high_open=True)
        excess = _upper(lambda curve: float(_worse(curve, both).tpr_at(at)), power, False)[0]
        return excess, lambda curve: worse_tpr(curve, at, both)[1] - power, f"TPR <= {power:g} at FPR {at:g}"
    eps = number("epsilon", budget[0], 0.0)
    slack = number("delta", budget[1], 0.0, 1.0, high_open=True)
    words = f"({eps:g}, {slack:g})-DP"

    def epsilon_beyond(curve: AbstractTradeOff) -> float:
        return float(_worse(curve, both).epsilon_bounds(slack)[1]) - eps

    if slack == 0.0:
        return epsilon_beyond, epsilon_beyond, words

    log_delta = float(lowered(math.log(slack), 2.0))

    def delta_beyond(curve: AbstractTradeOff) -> float:
        worst = max(float(c.log_delta_bounds(eps)[1]) for c in _directions(curve, both))
        return max(worst - log_delta, -1e3)

    def either(curve: AbstractTradeOff) -> float:
        # Upper ends of nearer bounds are hardly higher; far out they may take seconds.
        nearly = curve.at_accuracy(_NEARLY, FINE) if isinstance(curve, ComposedTradeOff) else curve
        return max(epsilon_beyond(curve), float(_worse(nearly, both).delta_bounds(eps)[1]) - slack)

    return delta_beyond, either, words


def _upper(number: Callable[[AbstractTradeOff], float], most: float, both: bool) -> tuple[Excess, Excess]:
    def excess(curve: AbstractTradeOff) -> float:
        return (number(curve) - most) / most

    return excess, lambda curve: excess(_worse(curve, both))


def _worse(curve: AbstractTradeOff, both: bool) -> AbstractTradeOff:
    return curve.symmetrized() if both else curve


def _directions(curve: AbstractTradeOff, both: bool) -> list[AbstractTradeOff]:
    """The curve and, if both directions are meant, its inverse; a symmetric curve only once."""
    turned = curve.inverse() if both else curve
    return [curve] if turned is curve else [curve, turned]
