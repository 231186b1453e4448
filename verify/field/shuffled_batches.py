"""Shuffled batches accounted for as if they were Poisson samples."""

import math

import numpy as np
from scipy.special import log_ndtr

from mipsim.referee import Choice, Control, Fixed, Number, Ordering, Point, Statement
from verify.field.central_limit import composed_epsilon


def poisson_epsilon(sigma: float, steps: int, delta: float) -> float:
    """What a certified accountant says of `steps` Poisson samples of rate 1/steps: an upper bound on epsilon."""
    found = composed_epsilon(sigma, 1.0 / steps, steps, math.log10(delta))
    return found.value + found.error


def shuffled_epsilon(sigma: float, steps: int, delta: float) -> float:
    """A lower bound on epsilon of one epoch of shuffled batches, by one event.

    A record of gradient 1 stands among records of gradient -1, or is zeroed out. But for a known shift the batches' sums are then
    normal around 2 e_t, or e_t, with t uniform. The event is that the largest sum exceeds c; any c gives a bound.

    Source: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang (2024), section 4.

    Examples:
        >>> round(shuffled_epsilon(0.8, 1000, 1e-5), 2), round(shuffled_epsilon(0.5, 1000, 1e-5), 2)
        (5.24, 10.0)
    """
    c = np.linspace(0.0, 4.0 + 8.0 * sigma, 4001)
    others = (steps - 1) * log_ndtr(c / sigma)
    with np.errstate(divide="ignore", invalid="ignore"):
        likely = -np.expm1(log_ndtr((c - 2.0) / sigma) + others)
        unlikely = -np.expm1(log_ndtr((c - 1.0) / sigma) + others)
        found = np.where(likely > delta, np.log(likely - delta) - np.log(unlikely), -math.inf)
    return float(np.nanmax(found))


def by_draws(sigma: float, steps: int, delta: float) -> str:
    """The same event among 40,000 drawn epochs with the record, and its probability without by the union bound."""
    rng, epochs, c = np.random.default_rng(3), 40_000, 2.0 + 3.0 * sigma
    places = rng.integers(0, steps, epochs)
    largest = np.empty(epochs)
    for k, place in enumerate(places):
        batch = sigma * rng.standard_normal(steps)
        batch[place] += 2.0
        largest[k] = batch.max()
    seen = float((largest > c).mean())
    unlikely = float(np.exp(log_ndtr((1.0 - c) / sigma))) + (steps - 1) * float(np.exp(log_ndtr(-c / sigma)))
    return (
        f"{epochs:,} drawn epochs (seed 3): some batch exceeds {c:g} with probability {seen:.3g} with the record, at most "
        f"{min(unlikely, 1.0):.3g} without: epsilon >= {math.log(max(seen - delta, 1e-300) / min(unlikely, 1.0)):.2f}"
    )


SHUFFLED_BATCHES = Statement(
    name="field-shuffled-batches",
    says="DP-SGD with shuffled batches, one epoch, has at most the $\\varepsilon$ that the accounting of Poisson batches gives: as it is "
    "used. Judged at the published settings, where one event shows more.",
    source="usual practice; Chua et al. (2024) show that it fails",
    kind=Ordering(unit="epsilon"),
    domain={"sigma": Choice(0.5, 0.8), "steps": Fixed(1000), "delta": Fixed(1e-5)},
    claimed=poisson_epsilon,
    truth=lambda **at: Number(shuffled_epsilon(**at), unknown="above", route="one event"),
    points=(Point({"sigma": 0.8, "steps": 1000, "delta": 1e-5}, "sigma .8", setting="paper"),),
    control=Control({"sigma": 0.8, "steps": 1000, "delta": 1e-5}, attained=True),
    second_route=by_draws,
)

STATEMENTS = (SHUFFLED_BATCHES,)
