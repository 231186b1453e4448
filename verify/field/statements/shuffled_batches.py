"""Shuffled batches accounted for as if they were Poisson samples."""

import math

from mipsim.referee import Choice, Control, Fixed, Number, Ordering, Point, Quote
from verify.field.laws.gaussian_accounting import composed_epsilon
from verify.field.laws.shuffled_laws import by_tails, poisson_epsilon, shuffled_epsilon
from verify.statement import Statement

SHUFFLED, POISSON = "shuffled", "Poisson samples"
_AT = {"batches": SHUFFLED, "sigma": 0.8, "steps": 1000, "delta": 1e-5}


def shown_epsilon(batches: str, sigma: float, steps: int, delta: float) -> Number:
    """What a single event shows of shuffled batches, and what the accountant says of Poisson samples, for which it is certified."""
    if batches == POISSON:
        return composed_epsilon(sigma, 1.0 / steps, steps, math.log10(delta))
    return Number(shuffled_epsilon(sigma, steps, delta), unknown="above", route="one event")


SHUFFLED_BATCHES = Statement(
    name="field-shuffled-batches",
    says="DP-SGD with shuffled batches, a single epoch, has at most the $\\varepsilon$ that the accounting of Poisson batches gives. "
    "Judged at settings chosen here, $\\sigma = 0.8$ and $0.5$, where a single event shows more: the record's gradient is 1, or zeroed out, and all others are -1.",
    fails="A shuffled batch has a fixed size. Where all other gradients are -1, the batch of the record lacks a -1 and stands out from the others even where the record is zeroed out, so that these do not hide it as Poisson batches would.",
    instead="batches that are Poisson samples",
    restored_by=(
        "the batches are Poisson samples (by definition: the accounting is of these)",
        lambda batches: batches == POISSON,
    ),
    source="a practice that Chua et al. (2024) report, and show to fail: of the paper the abstract was at hand",
    kind=Ordering(unit="epsilon"),
    domain={
        "batches": Choice(SHUFFLED, POISSON, meaning="how the batches are made"),
        "sigma": Choice(0.5, 0.8, meaning="deviation of the noise, in sensitivities"),
        "steps": Fixed(1000, meaning="steps"),
        "delta": Fixed(1e-5, meaning="delta"),
    },
    claimed=poisson_epsilon,
    truth=shown_epsilon,
    points=[
        Point(_AT, "sigma .8"),
        # From hunts.
        _AT | {"sigma": 0.5},
        _AT | {"batches": POISSON},
    ],
    control=Control(_AT | {"batches": POISSON}, attained=True),
    quote=Quote(
        "This has led to a common practice of using shuffling-based DP-SGD in practice, but using the privacy analysis for the corresponding Poisson "
        "subsampling version.",
        "Chua et al. (2024), arXiv 2403.17673 version 2, abstract",
        reported=True,
    ),
    second_route=lambda batches, **at: by_tails(**at),
)

STATEMENTS = (SHUFFLED_BATCHES,)
