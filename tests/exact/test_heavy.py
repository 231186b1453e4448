"""The likeliest pairs of two lists are computed without making all pairs."""

import numpy as np
import pytest

from mipsim.exact.independent import Independent, Stack, _pairs, heavy_atoms


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


@pytest.mark.evidence
def test_the_law_of_few_records_of_a_list_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares of squares of 200 unlike values were multiplied out: 4e8 products of 8 bytes, several times over."""
    built = []

    def counted(*given: object) -> tuple[np.ndarray, np.ndarray]:
        built.append(_pairs(*given))  # pyright: ignore[reportArgumentType]
        return built[-1]

    monkeypatch.setattr("mipsim.exact.independent._pairs", counted)
    rng = np.random.default_rng(0)
    table = Stack(rng.normal(size=(1, 200)), np.full((2, 1, 200), 1 / 200), np.full((2, 1), 16))
    result = heavy_atoms(Independent((table,), np.zeros(2)), 1e-35, 2**13)
    assert 0 < result.values.size <= 2**14
    assert built
    assert max(i.size for i, _ in built) < 2**26
