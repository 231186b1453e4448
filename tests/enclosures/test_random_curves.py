"""Random curves and operations on them, evaluated everywhere and compared with truths that share no code; each seed is a case.

The long form, `-m slow`, has other seeds and many more. `MIPSIM_SEED` moves all of them: a fresh seed is a fresh adversary.
"""

import os
from collections.abc import Callable

import numpy as np
import pytest

import mipsim as mi

from .curves import (
    FAMILIES,
    POLYGONS,
    SMOOTH,
    Case,
    Rng,
    choice_of,
    compositions,
    magnitude,
    operated,
    walk,
)
from .enclosed import Queries, misses

# A width that is not reached is warned of, and both bounds hold: that they do is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*both bounds hold")

START = int(os.environ.get("MIPSIM_SEED", "0"))
TRANSFORMS = ("advantage", "eta")


def seeds(few: int, many: int) -> list[object]:
    return [*range(few), *(pytest.param(k, marks=pytest.mark.slow) for k in range(few, many))]


def rng_of(seed: int) -> Rng:
    return np.random.default_rng([START, seed])


def nothing_missed(case: Case, queries: Queries) -> None:
    assert (case.words, misses(case.curve, case.truth, queries)) == (case.words, [])


QUICK = [kind for kind in FAMILIES if kind is not magnitude]


@pytest.mark.evidence
@pytest.mark.parametrize("seed", seeds(5, 120))
def test_families(seed: int) -> None:
    rng = rng_of(seed)
    nothing_missed(choice_of(rng, FAMILIES if seed >= 5 else QUICK), Queries.sampled(rng, 2))


@pytest.mark.parametrize("seed", seeds(2, 60))
def test_polygons_that_are_not_convex(seed: int) -> None:
    rng = rng_of(seed)
    nothing_missed(walk(rng), Queries.sampled(rng, 2, numbers=("advantage", "auc")))


@pytest.mark.parametrize("seed", seeds(3, 150))
def test_operations_three_deep_on_polygons(seed: int) -> None:
    rng = rng_of(seed)
    case = choice_of(rng, POLYGONS)
    for _ in range(int(rng.integers(1, 4))):
        case = operated(rng, case, lambda r: choice_of(r, POLYGONS))
    nothing_missed(case, Queries.sampled(rng, 2, numbers=("advantage", "auc", "least_mu")))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_operations_three_deep_on_polygons_that_are_not_convex(seed: int) -> None:
    rng = rng_of(seed)
    case = walk(rng)
    for _ in range(int(rng.integers(1, 4))):
        case = operated(rng, case, walk, convex=False)
    nothing_missed(case, Queries.sampled(rng, 2, numbers=TRANSFORMS))


@pytest.mark.evidence
@pytest.mark.parametrize("seed", [1, 3, *(pytest.param(k, marks=pytest.mark.slow) for k in range(60) if k not in (1, 3))])  # fmt: skip
def test_operations_on_smooth_curves(seed: int) -> None:
    rng = rng_of(seed)
    case = operated(rng, choice_of(rng, SMOOTH), lambda r: choice_of(r, FAMILIES))
    nothing_missed(case, Queries.sampled(rng, 2, numbers=TRANSFORMS))


@pytest.mark.parametrize(
    "operation",
    [
        lambda c: c.inverse(),
        pytest.param(lambda c: c.symmetrized(), marks=pytest.mark.slow),
        pytest.param(lambda c: c.subsampled(0.3), marks=pytest.mark.slow),
        lambda c: mi.MixtureTradeOff(c, 0.3),
    ],
)
def test_a_single_operation_on_a_gaussian(
    operation: Callable[[mi.AbstractTradeOff], mi.AbstractTradeOff],
) -> None:
    """The same operation on the closed form, and on a curve of which nothing but its enclosure is known."""
    from .curves import Hidden

    closed, hidden = operation(mi.GaussianTradeOff(1.3)), operation(Hidden(mi.GaussianTradeOff(1.3)))
    x = np.array([-50.0, -5.0, -0.5, -1e-3])
    for ours, theirs in (
        (closed.enclosure(x), hidden.enclosure(x)),
        (hidden.enclosure(x), closed.enclosure(x)),
    ):
        assert (ours.log_fnr_low <= theirs.log_fnr_high).all()
        assert (ours.log_tpr_low <= theirs.log_tpr_high).all()


# Of each kind a quick one; a mass that surely reveals the world, which takes minutes at random, is in `test_seen`.
@pytest.mark.evidence
@pytest.mark.parametrize(
    "seed", [1, 6, 11, *(pytest.param(k, marks=pytest.mark.slow) for k in range(100) if k not in (1, 6, 11))]
)
def test_compositions(seed: int) -> None:
    rng = rng_of(seed)
    nothing_missed(compositions(rng), Queries.sampled(rng, 2, numbers=TRANSFORMS))


@pytest.mark.evidence
@pytest.mark.parametrize("seed", seeds(1, 100))
def test_inverses_of_compositions(seed: int) -> None:
    rng = rng_of(1000 + seed)
    curve, truth, words = compositions(rng)
    nothing_missed(
        Case(curve.inverse(), truth.reversed, f"inverse of {words}"),
        Queries.sampled(rng, 2, numbers=TRANSFORMS),
    )
