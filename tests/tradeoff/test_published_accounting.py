"""Epsilon of DP-SGD against dp-accounting's two ends over a grid, and against a published table."""

import itertools
from typing import Any

import pytest

from mipsim.tradeoff import dpsgd

WHY = "a peer library of the tests; the `dev` group installs it where it has a version for this Python"
WIDTH = 1e-4
"""Width to which epsilon is computed."""
ROUNDING = 1e-12
"""What dp-accounting's transforms and truncated tails change a delta by, in its optimistic end too."""

GRID = [
    (noise, rate, steps, (1e-3, 1e-5, 1e-7)[k % 3])
    for k, (noise, rate, steps) in enumerate(
        itertools.product((0.6, 1.0, 2.0, 5.0), (0.001, 0.02, 0.3), (2, 20, 200, 1000, 5000))
    )
]
BY_DEFAULT = (3, 11, 22, 30, 44, 55)


def ends_of_dp_accounting(
    noise: float, rate: float, steps: int, delta: float
) -> dict[str, tuple[float, float]]:
    """Lower and upper bounds of epsilon of both directions: its grid is at most a thousandth of a nat."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason=WHY)
    step = 1e-4 if steps <= 200 and noise >= 1.0 else 1e-3
    laws: list[Any] = [
        pld.from_gaussian_mechanism(
            noise, sampling_prob=rate, value_discretization_interval=step, pessimistic_estimate=way
        ).self_compose(steps)
        for way in (False, True)
    ]
    return {
        name: (
            getattr(laws[0], pmf).get_epsilon_for_delta(delta + ROUNDING),
            getattr(laws[1], pmf).get_epsilon_for_delta(delta),
        )
        for name, pmf in (("remove", "_pmf_remove"), ("add", "_pmf_add"))
    }


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("noise", "rate", "steps", "delta"),
    [
        pytest.param(*row, marks=[] if k in BY_DEFAULT else pytest.mark.slow, id=f"{k}")
        for k, row in enumerate(GRID)
    ],
)
def test_between_the_ends_of_dp_accounting(noise: float, rate: float, steps: int, delta: float) -> None:
    for name, (low, high) in ends_of_dp_accounting(noise, rate, steps, delta).items():
        least, most = dpsgd(noise, rate, steps, neighbours=name).epsilon_bounds(delta)
        assert 0.0 <= most - least <= WIDTH
        assert low <= most  # never less than what an attacker surely has
        assert least <= high
        assert most <= high + WIDTH


TABLE = {
    # noise multiplier, sampling rate, steps: upper end of epsilon at delta = 1e-6
    (0.8, 0.001, 100): 0.270403364058018680,
    (1.5, 0.001, 100): 0.039369419309520328,
    (2.0, 0.001, 100): 0.029104536948407488,
    (3.0, 0.001, 100): 0.021520093439088266,
    (0.8, 0.05, 100): 6.74105193941409996,
    (1.5, 0.05, 100): 1.95385313568420015,
    (2.0, 0.05, 100): 1.28363737962406521,
    (3.0, 0.05, 100): 0.767933789666825572,
    (0.8, 0.2, 100): 24.3336641779225644,
    (1.5, 0.2, 100): 8.49897785912163072,
    (2.0, 0.2, 100): 5.67205560882372950,
    (3.0, 0.2, 100): 3.38122051022184422,
    (0.8, 0.001, 1000): 0.477771266184522591,
    (1.5, 0.001, 1000): 0.099820660285530847,
    (2.0, 0.001, 1000): 0.071218782538115227,
    (3.0, 0.001, 1000): 0.047615930871358930,
    (0.8, 0.05, 1000): 19.5258428053837356,
    (1.5, 0.05, 1000): 6.20996924657726712,
    (2.0, 0.05, 1000): 4.17279986668931890,
    (3.0, 0.05, 1000): 2.52757432605973830,
    (0.8, 0.001, 20000): 1.29600925757016161,
    (1.5, 0.001, 20000): 0.437005108654860807,
    (2.0, 0.001, 20000): 0.305837939762453436,
    (3.0, 0.001, 20000): 0.194031030686054706,
    (0.8, 0.05, 20000): 140.655209760074228,
    (1.5, 0.05, 20000): 38.3066179140872336,
    (2.0, 0.05, 20000): 24.4217185703225858,
    (3.0, 0.05, 20000): 13.9611146992367061,
    (0.8, 0.001, 50000): 2.03451480771586634,
    (1.5, 0.001, 50000): 0.704218384555810095,
    (2.0, 0.001, 50000): 0.491354910211401318,
    (3.0, 0.001, 50000): 0.309694161156544023,
    (0.8, 0.05, 50000): 291.384325452396524,
    (1.5, 0.05, 50000): 73.1901767238329625,
    (2.0, 0.05, 50000): 45.2369958613306906,
    (3.0, 0.05, 50000): 24.9420056431444763,
    (0.8, 0.001, 100000): 2.92462211935041027,
    (1.5, 0.001, 100000): 1.01528807502760787,
    (2.0, 0.001, 100000): 0.706719901081851564,
    (3.0, 0.001, 100000): 0.443671720880875475,
}
"""By the PRV accountant of Gopi, Lee and Wutschitz (2021), as Opacus lists them (opacus/tests/prv_accountant.py)."""
PUBLISHED_ERROR = 0.02
"""Twice the error of epsilon, 0.01, that the accountant was given: its estimate is within a single error of the truth, and its upper end adds an error."""


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("noise", "rate", "steps"),
    [pytest.param(*row, marks=[] if k % 8 == 5 else pytest.mark.slow) for k, row in enumerate(TABLE)],
)
def test_published_rows_of_the_prv_accountant(noise: float, rate: float, steps: int) -> None:
    low, high = dpsgd(noise, rate, steps, neighbours="remove").epsilon_bounds(1e-6)
    published = TABLE[noise, rate, steps]
    assert high - low <= WIDTH
    assert low <= published <= high + PUBLISHED_ERROR
