"""The rule for limits against planted sequences: no false limit is confirmed, no true limit refuted."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from mipsim.referee import limit_verdict

Sequence = Callable[[np.ndarray], np.ndarray]
SHORT, LONG, FAR = 100 * 2.0 ** np.arange(7), 100 * 2.0 ** np.arange(14), 50 * 4.0 ** np.arange(11)
RANGES = {"100 to 6,400": SHORT, "100 to 819,200": LONG, "50 to 5e7": FAR}


def noise(size: float, seed: int = 0) -> Sequence:
    return lambda n: size * np.random.default_rng(seed).standard_normal(n.size)


TRUE: dict[str, Sequence] = {
    "0": lambda n: 0 * n,
    "n^-1/2": lambda n: n**-0.5,
    "-n^-1/2": lambda n: -(n**-0.5),
    "1/n": lambda n: 1 / n,
    "n^-2": lambda n: n**-2,
    "n^-1/3": lambda n: n ** (-1 / 3),
    "0.3 n^-1/4": lambda n: 0.3 * n**-0.25,
    "n^-1/2 + 3/n": lambda n: n**-0.5 + 3 / n,
    "n^-1/2 - 10/n, crossing zero": lambda n: n**-0.5 - 10 / n,
    "n^-1/2 - 20/n, crossing zero": lambda n: n**-0.5 - 20 / n,
    "n^-0.3 + 3/n": lambda n: n**-0.3 + 3 / n,
    "log n / sqrt n": lambda n: np.log(n) / np.sqrt(n),
    "log n / n": lambda n: np.log(n) / n,
    "lattice, 5%": lambda n: n**-0.5 * (1 + 0.05 * np.cos(37 * np.sqrt(n))),
    "lattice, 30%": lambda n: n**-0.5 * (1 + 0.3 * np.cos(37 * np.sqrt(n))),
    "oscillating": lambda n: n**-0.5 * np.cos(2 * np.log(n)),
    "alternating": lambda n: n**-0.5 * (-1.0) ** np.arange(n.size),
    "rounded to 4 digits": lambda n: np.round(n**-0.5, 4),
    "n^-1/2 and noise 1e-9": lambda n: n**-0.5 + noise(1e-9)(n),
    "1/n and noise 1e-4": lambda n: 1 / n + noise(1e-4)(n),
    "noise 1e-12": noise(1e-12),
    "plateau, then n^-1/2": lambda n: 0.1 / np.sqrt(1 + n / 1000),
    "plateau, then 1/n": lambda n: 0.1 / (1 + n / 3000),
    "plateau that has hardly ended": lambda n: 0.1 / (1 + n / 1e5),
    "hump": lambda n: (n / 1000) ** 0.5 / (1 + n / 1000),
    "1/log n": lambda n: 1 / np.log(n),
    "0.35/log n": lambda n: 0.35 / np.log(n),
    "log(n)^-2": lambda n: np.log(n) ** -2,
    "log(n)^-1/2": lambda n: np.log(n) ** -0.5,
    "1/log log n": lambda n: 1 / np.log(np.log(n)),
    "log log n / log n": lambda n: np.log(np.log(n)) / np.log(n),
    "1/log(n + 1000)": lambda n: 1 / np.log(n + 1000),
    "n^-0.07": lambda n: n**-0.07,
    "n^-0.2": lambda n: n**-0.2,
    "1/log log n and noise 1e-4": lambda n: 1 / np.log(np.log(n)) + noise(1e-4)(n),
}
FALSE: dict[str, Sequence] = {
    "0.08 + n^-1/2": lambda n: 0.08 + n**-0.5,
    "0.05 + 40/n": lambda n: 0.05 + 40 / n,
    "0.02 + 0.35/log n": lambda n: 0.02 + 0.35 / np.log(n),
    "0.085 log2(n/3600)": lambda n: 0.085 * np.log2(n / 3600),
    "0.08": lambda n: 0.08 + 0 * n,
    "-0.03": lambda n: -0.03 + 0 * n,
    "0.03 - n^-1/2, crossing zero": lambda n: 0.03 - n**-0.5,
    "0.03 - 10/n, crossing zero": lambda n: 0.03 - 10 / n,
    "-0.02 + 0.35/log n, crossing zero": lambda n: -0.02 + 0.35 / np.log(n),
    "-0.1 + 1/log log n": lambda n: -0.1 + 1 / np.log(np.log(n)),
    "-0.3 + n^-0.07": lambda n: -0.3 + n**-0.07,
    "0.03 + n^-1/2 + 3/n": lambda n: 0.03 + n**-0.5 + 3 / n,
    "0.03 + log n / n": lambda n: 0.03 + np.log(n) / n,
    "0.03 with a lattice": lambda n: 0.03 + n**-0.5 * (1 + 0.3 * np.cos(37 * np.sqrt(n))),
    "0.03 alternating": lambda n: 0.03 * (-1.0) ** np.arange(n.size),
    "0.03 cos(log n)": lambda n: 0.03 * np.cos(np.log(n)),
    "0.03 and noise 1e-3": lambda n: 0.03 + noise(1e-3)(n),
    "0.03 rounded": lambda n: np.round(0.03 + n**-0.5, 4),
    "growing as log n": lambda n: 0.01 * np.log(n),
    "growing as log log n": lambda n: 0.03 * np.log(np.log(n)),
    "growing as sqrt n": lambda n: 1e-4 * np.sqrt(n),
    "growing, after a fall": lambda n: 3 / np.sqrt(n) + 1e-4 * np.sqrt(n),
    "0.03, from below": lambda n: 0.03 - 0.03 / np.sqrt(n / 100),
    "0.03, plateau first": lambda n: 0.03 + 0.1 / np.sqrt(1 + n / 1000),
}


@pytest.mark.evidence
@pytest.mark.parametrize("tolerance", [0.005, 0.02, 0.1])
@pytest.mark.parametrize("sizes", RANGES.values(), ids=RANGES)
@pytest.mark.parametrize("name", [*TRUE, *FALSE])
def test_planted_sequences(name: str, sizes: np.ndarray, tolerance: float):
    """The wrong limits are 0.02 at least; inside a tolerance of 0.1 they are wrong all the same."""
    true = name in TRUE
    result = limit_verdict(sizes, (TRUE if true else FALSE)[name](sizes), tolerance)
    assert result.verdict != ("REFUTED" if true else "CONFIRMED"), result
    assert result.why.endswith(".")


def test_there_are_enough_of_them():
    assert len(TRUE) + len(FALSE) >= 40


@pytest.mark.parametrize(
    "name", ["0", "n^-1/2", "1/n", "lattice, 5%", "n^-1/2 and noise 1e-9", "noise 1e-12", "log n / n"]
)
def test_a_true_limit_can_be_confirmed(name: str):
    result = limit_verdict(LONG, TRUE[name](LONG), 0.02)
    assert result.verdict == "CONFIRMED", result
    assert result.interval[0] <= result.limit <= result.interval[1]
    assert max(map(abs, result.interval)) <= 0.02


@pytest.mark.parametrize(
    "name",
    [
        "0.08", "0.08 + n^-1/2", "0.05 + 40/n", "0.03 - 10/n, crossing zero", "growing as log n",
    ],
)  # fmt: skip
def test_a_false_limit_can_be_refuted(name: str):
    assert limit_verdict(LONG, FALSE[name](LONG), 0.02).verdict == "REFUTED"


@pytest.mark.parametrize("name", ["1/log n", "0.35/log n", "1/log log n", "n^-0.07", "log(n)^-2", "n^-0.2"])
@pytest.mark.parametrize("sizes", RANGES.values(), ids=RANGES)
def test_a_slow_approach_is_inconclusive_and_says_so(name: str, sizes: np.ndarray):
    result = limit_verdict(sizes, TRUE[name](sizes), 0.02)
    assert result.verdict == "INCONCLUSIVE"
    assert result.slow
    assert "slow" in result.why


def test_the_fit_is_what_was_planted():
    result = limit_verdict(LONG, 0.03 - 2 * LONG**-0.75, 0.02)
    assert (result.limit, result.power) == (pytest.approx(0.03, abs=1e-6), pytest.approx(0.75))
    # c is that of (n / first size)^-q.
    assert result.coefficient == pytest.approx(-2 * LONG[0] ** -0.75, rel=1e-4)


def test_errors_widen_the_interval_and_decide_nothing_themselves():
    gaps = 0.002 + SHORT**-0.5
    assert limit_verdict(SHORT, gaps, 0.02).verdict == "REFUTED"
    assert limit_verdict(SHORT, gaps, 0.02, errors=0.01).verdict == "INCONCLUSIVE"
    assert limit_verdict(SHORT, 0 * SHORT, 0.02, errors=0.05).verdict == "INCONCLUSIVE"


def test_infinite_gaps():
    every = limit_verdict(SHORT, np.full(7, np.inf), 0.02)
    assert (every.verdict, every.limit) == ("REFUTED", math.inf)
    early = np.where(LONG < 1000, -np.inf, LONG**-0.5)
    assert limit_verdict(LONG, early, 0.02).verdict == "CONFIRMED"
    late = np.where(LONG > 1000, np.inf, LONG**-0.5)
    assert limit_verdict(LONG, late, 0.02).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((SHORT[:5], SHORT[:5], 0.02), "sizes has 5 entries; a limit is judged by at least 6"),
        ((SHORT, SHORT[:6], 0.02), "gaps has 6 entries; it must have an entry for each of the 7 sizes"),
        ((np.arange(10.0, 16), np.zeros(6), 0.02), "sizes holds 11 after 10; each must be at least 2 times the previous"),
        ((-SHORT, SHORT, 0.02), "sizes holds -100; each must be finite and > 0"),
        ((SHORT, np.where(SHORT == 400, np.nan, 0), 0.02), r"gaps\[2\], at size 400, is NaN"),
        ((SHORT, SHORT, 0.0), "tolerance"),
        ((SHORT, SHORT, math.nan), "tolerance"),
        ((SHORT, SHORT, 0.02, -1.0), "errors holds -1; each must be finite and >= 0"),
        ((SHORT, SHORT, 0.02, np.zeros(3)), r"errors has shape \(3,\)"),
        ((SHORT, SHORT, 0.02, np.full(7, np.nan)), "errors holds nan"),
        (("n", SHORT, 0.02), "sizes is 'n'; it must be a sequence of numbers"),
        ((SHORT, np.zeros((7, 2)), 0.02), "gaps has 2 dimensions"),
    ],
)  # fmt: skip
def test_bad_input(arguments: tuple, words: str):
    with pytest.raises(ValueError, match=words):
        limit_verdict(*arguments)


def _sampled(rng: np.random.Generator, n: np.ndarray) -> tuple[str, np.ndarray]:
    """A sequence that goes to zero, of a random kind; its turning points are inside the sizes."""
    c = rng.choice([-1, 1]) * np.exp(rng.uniform(np.log(0.05), np.log(3)))
    q, x = rng.uniform(0.25, 2), n / n[0]
    middle = np.exp(rng.uniform(np.log(n[0]), np.log(n[-1]) - np.log(n[-1] / n[0]) / 3))
    kinds: dict[str, Callable[[], np.ndarray]] = {
        "power": lambda: x**-q,
        "two terms": lambda: x**-q + rng.uniform(-2, 2) * x ** (-2 * q),
        "two powers": lambda: x ** -rng.uniform(0.25, 1) + rng.uniform(-3, 3) * x ** -rng.uniform(0.5, 2),
        "log": lambda: np.log(n) ** -rng.uniform(0.3, 2.5),
        "log log": lambda: 1 / np.log(np.log(n) + 1),
        "slow power": lambda: n ** -rng.uniform(0.01, 0.24),
        "late log": lambda: 1 / np.log(n + 10 ** rng.uniform(1, 5)),
        "log times power": lambda: np.log(n) ** rng.uniform(-2, 2) * n ** -rng.uniform(0.3, 1),
        "log log over log": lambda: np.log(np.log(n) + 1) / np.log(n),
        "lattice": lambda: (
            x**-q * (1 + rng.uniform(0, 0.5) * np.cos(rng.uniform(0.5, 40) * np.sqrt(n) + rng.uniform(0, 6)))
        ),
        "plateau": lambda: (1 + n / middle) ** -rng.uniform(0.3, 1),
        "oscillating": lambda: x**-q * np.cos(rng.uniform(0.2, 6) * np.log(n) + rng.uniform(0, 6)),
        "hump": lambda: np.sqrt(n / middle) / (1 + n / middle) ** rng.uniform(0.8, 1.5),
    }
    kind = rng.choice(list(kinds))
    return str(kind), c * kinds[kind]()


def _wrong(seed: int, count: int) -> list[str]:
    rng = np.random.default_rng(seed)
    wrong = []
    for _ in range(count):
        ratio, first = float(rng.choice([2, 2, 4, 8])), float(rng.choice([10, 50, 100, 400, 1000]))
        n = first * ratio ** np.arange(rng.integers(6, 16))
        n = n[: max(6, int((n <= 1e9).sum()))]
        kind, gaps = _sampled(rng, n)
        tolerance = float(rng.choice([0.002, 0.02, 0.1]))
        false = rng.random() < 0.5
        limit = float(rng.choice([-1, 1]) * np.exp(rng.uniform(np.log(tolerance), 0))) if false else 0.0
        size = float(rng.choice([0, 0, 1e-12, 1e-6, 1e-3]))
        gaps = gaps + limit + size * rng.standard_normal(n.size)
        result = limit_verdict(n, gaps, tolerance, 3 * size if rng.random() < 0.7 else None)
        if result.verdict == ("CONFIRMED" if false else "REFUTED"):
            wrong.append(f"{kind}, limit {limit:.3g}, {tolerance}: {n.tolist()} {gaps.tolist()} {result}")
    return wrong


RATE = 1e-3
"""Wrong verdicts that are allowed: the rule's own failure probability, `FAILURE_PROBABILITY`."""


def _allowed(count: int) -> int:
    from scipy.stats import binom

    return int(binom.isf(1e-6, count, RATE))


@pytest.mark.evidence
def test_random_sequences():
    wrong = _wrong(0, 400)
    assert len(wrong) <= _allowed(400), "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_thousands_of_random_sequences(seed: int):
    wrong = _wrong(seed, 5000)
    assert len(wrong) <= _allowed(5000), "\n".join(wrong)


def test_small_gaps_that_double_with_the_size_confirm_no_limit() -> None:
    sizes = [100 * 2**k for k in range(8)]
    assert limit_verdict(sizes, [2.5e-8 * n for n in sizes], 0.02).verdict == "INCONCLUSIVE"
    assert limit_verdict(sizes, [1e-2 / n for n in sizes], 0.02).verdict == "CONFIRMED"
