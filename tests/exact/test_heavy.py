"""The likeliest pairs of two lists are found without making all pairs."""

import numpy as np
import pytest

import mipsim as mi
from mipsim.exact.heavy import _pairs


@pytest.mark.parametrize(("first", "second", "wanted"), [(300, 500, 40), (500, 300, 40), (700, 3, 100), (2, 2000, 50), (90, 90, 1)])  # fmt: skip
def test_pairs_hold_the_largest_products(first: int, second: int, wanted: int) -> None:
    rng = np.random.default_rng(first)
    a, b = rng.exponential(size=first) ** 4, rng.exponential(size=second) ** 4
    i, j = _pairs(a, b, wanted)
    assert i.size == len(set(zip(i.tolist(), j.tolist(), strict=True))), "no pair twice"
    assert i.size <= wanted * (1 + np.log(wanted)) < a.size * b.size
    everything = np.sort(np.multiply.outer(a, b).ravel())[::-1]
    assert np.array_equal(np.sort(a[i] * b[j])[::-1][:wanted], everything[:wanted])


def test_few_pairs_are_all_made() -> None:
    i, j = _pairs(np.ones(3), np.ones(4), 1)
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == [(a, b) for a in range(3) for b in range(4)]


def test_the_law_of_few_records_of_a_list_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares of squares of 200 unlike values were multiplied out: 4e8 products of 8 bytes, several times over."""
    made = []

    def counted(*given: object) -> tuple[np.ndarray, np.ndarray]:
        made.append(_pairs(*given))  # pyright: ignore[reportArgumentType]
        return made[-1]

    monkeypatch.setattr("mipsim.exact.heavy._pairs", counted)
    values = np.random.default_rng(0).normal(size=(200, 1))
    game = mi.FixedTarget(mi.EmpiricalMean(), mi.Empirical(values), 16, [4.0])
    curve = game.exact(mi.ScalarProduct([0.0], target=[1.0]))
    assert 0.35 < curve.tpr_at(0.1) < 0.45, "a shift of one standard deviation: .39 if all were normal"
    assert made
    assert max(i.size for i, _ in made) < 2**26
