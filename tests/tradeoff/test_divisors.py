"""What divisors tell: by sums over all sizes of a batch and a grid of noise, by games, and what is left where neighbours share it."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm

import mipsim as mi
from mipsim.tradeoff.divisors import divided, norm_test

PLAIN: Any = {"dimension": None, "sampling": "poisson", "group": 1}


def test_a_norm_tells_nine_from_ten_in_a_thousand_coordinates() -> None:
    """Directly, of the larger noise against the smaller; a game of norms agrees, and equal divisors tell nothing."""
    threshold = chi2.isf(1e-5, 1000)
    assert norm_test(1000, 9, 10, 1e-5) == pytest.approx(chi2.sf(threshold * 0.81, 1000), rel=1e-9)
    assert round(norm_test(1000, 9, 10, 1e-5), 3) == 0.717
    assert norm_test(1000, 9, 9, 1e-5) == pytest.approx(1e-5, rel=1e-6)
    norms = np.random.default_rng(0).chisquare(1000, 200_000) / 0.81
    assert abs((norms > threshold).mean() - 0.717) < 4e-3
    assert norm_test(10**6, 9, 10, 1e-5) > 1.0 - 1e-12


@pytest.mark.parametrize(
    ("q", "n", "noise"),
    [(0.1, 100, 1.0), pytest.param(0.01, 3000, 0.8, marks=pytest.mark.evidence), (0.5, 9, 2.0)],
)
def test_a_revealed_batch_is_a_sum_over_its_sizes(q: float, n: int, noise: float) -> None:
    # Batches of more than 200 have a probability below 1e-90.
    sizes, z = np.arange(min(n, 200) + 1), np.linspace(-12.0, 16.0, 4001)
    without, with_target = (
        np.outer(binom.pmf(sizes - k, n - 1, q), norm.pdf(z - k * 2.0 / noise)) * (z[1] - z[0])
        for k in (0, 1)
    )
    inside = (1.0 - q) * without + q * with_target
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        for how, p, other in (("remove", inside, without), ("add", without, inside)):
            (way,) = divided([], [(noise, q, 1)], neighbours=how, normalise="realised", data_size=n, **PLAIN)[
                0
            ]
            truth = float(np.maximum(p - np.exp(epsilon) * other, 0.0).sum())
            low, high = way.delta_bounds(epsilon)
            gain = p - np.exp(epsilon) * other
            least = float(
                np.maximum(gain[2:], 0.0).sum() + max(gain[:2].sum(), 0.0)
            )  # code may merge sizes 0 and 1
            assert 0.999 * least - 1e-9 <= low <= truth * (1.0 + 1e-6) + 1e-12
            assert least > 0.9 * truth - 1e-9
            assert truth * (1.0 - 1e-6) - 1e-12 <= high <= 1.003 * truth + 1e-9
            assert high > 1.03 * mi.dpsgd(noise, q).delta(epsilon) or high < 1e-6  # a sum tells less


@pytest.mark.parametrize("neighbours", ["remove", "add", "add_or_remove"])
def test_a_floor_is_refused_where_a_neighbour_has_another(neighbours: str) -> None:
    """A record less, and a record more where the given number may be that of the smaller data set."""
    for n in range(20, 60):
        how: Any = PLAIN | {"neighbours": neighbours, "normalise": "floor", "data_size": n}
        same = (n - 1) // 10 == (n + (neighbours != "remove")) // 10
        with nullcontext() if same else pytest.raises(ValueError, match="neighbours divide by"):
            divided([], [(1.0, 0.1, 1)], **how)


@pytest.mark.evidence
def test_the_numbers_of_a_divisor_that_neighbours_share_are_those_of_the_sum() -> None:
    few: Any = {"epsilon": [], "fpr": []}
    plain = mi.account(1.0, 0.1, 5, **few)
    shared = mi.account(1.0, 0.1, 5, normalise="floor", data_size=105, **few)
    assert shared.numbers == plain.numbers
    assert "the same for these neighbours" in str(shared)
    batches: Any = few | {"sampling": "fixed_size", "neighbours": "replace"}
    fixed = mi.account(1.0, 0.1, 5, **batches).numbers
    assert mi.account(1.0, 0.1, 5, normalise="realised", **batches).numbers == fixed
    realised = mi.account(1.0, 0.1, 5, normalise="realised", data_size=100, **few).numbers
    low, high = realised["epsilon at delta 1e-05"]
    assert 2.0 * plain.numbers["epsilon at delta 1e-05"][1] < 0.995 * high < low < high
    assert realised["advantage"][1] > 1.03 * plain.numbers["advantage"][1]
    run: Any = {"sigma": 1.0, "q": 0.1, "steps": 5, "n": 100, "sampler": "poisson"}
    assert mi.account(run | {"normalise": "Realised"}, **few).numbers == realised
    replaced = run | {"sampler": "fixed", "neighbours": "replace"}
    assert mi.account(replaced, normalise="realised", **few).numbers == fixed
    assert mi.account(run, normalise="realised", **few).numbers == realised
    with pytest.raises(ValueError, match="data_size and n are the same and differ; give the data_size alone"):
        mi.account(run, normalise="realised", data_size=1000)  # of which fewer hide less
    assert mi.account(run | {"n": 10**16}, **few).numbers == plain.numbers
