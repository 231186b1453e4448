"""Shuffled batches accounted for as if they were Poisson samples."""

from mipsim.referee import Choice, Control, Fixed, Number, Ordering, Point
from verify.field.laws.shuffled_laws import by_tails, poisson_epsilon, shuffled_epsilon
from verify.statement import Statement

SHUFFLED_BATCHES = Statement(
    name="field-shuffled-batches",
    says="DP-SGD with shuffled batches, a single epoch, has at most the $\\varepsilon$ that the accounting of Poisson batches gives: as it is "
    "used. Judged at the published settings, where a single event shows more: the record's gradient is 1, or zeroed out, and all others are -1.",
    fails="A shuffled batch has a fixed size. Where all other gradients are -1, the batch of the record lacks a -1 and stands out from the others even where the record is zeroed out, so that these do not hide it as Poisson batches would.",
    instead="batches that are Poisson samples",
    source="usual practice; Chua et al. (2024) show that it fails",
    kind=Ordering(unit="epsilon"),
    domain={
        "sigma": Choice(0.5, 0.8, meaning="deviation of the noise, in sensitivities"),
        "steps": Fixed(1000, meaning="steps"),
        "delta": Fixed(1e-5, meaning="delta"),
    },
    claimed=poisson_epsilon,
    truth=lambda **at: Number(shuffled_epsilon(**at), unknown="above", route="one event"),
    points=[
        Point({"sigma": 0.8, "steps": 1000, "delta": 1e-5}, "sigma .8", setting="paper"),
        # From hunts.
        {"sigma": 0.5, "steps": 1000, "delta": 1e-05},
    ],
    control=Control({"sigma": 0.8, "steps": 1000, "delta": 1e-5}, attained=True),
    second_route=by_tails,
)

STATEMENTS = (SHUFFLED_BATCHES,)
