"""The exact laws behind the verdicts on Z-estimators and on algorithms 3 and 4, against literal draws and other formulas."""

import numpy as np
import pytest
from scipy import stats

from mipsim.theory import azize
from verify.azize import canaries, steps, z_estimators
from verify.azize.gradients import D, effective, score_matrix
from verify.azize.z_laws import (
    block_piece,
    logit_piece,
    mean_piece,
    median_piece,
    slope_piece,
    two_inputs_piece,
)
from verify.azize.z_problems import by_literal_match, growing_curve
from verify.claim import Budget, Verdict

PIECES = {
    "mean": mean_piece(1.0, 2.0, 4.0),
    "median": median_piece(stats.laplace(1.0), 0.8),
    "median at its target": median_piece(stats.expon(), 0.5),
    "slope": slope_piece(2.0, 1.5, 2.0, -1.0),
    "logit": logit_piece(0.7, True),
    "block": block_piece(3, 4.0, 1.2),
    "two inputs": two_inputs_piece(0.5, 2, 0),
}
N, GAMES = 21, 20_000
# P(sup |F_n - F| > 0.024) <= 2 exp(-2 x 20000 x 0.024^2) = 2e-10 (Dvoretzky, Kiefer & Wolfowitz; Massart).
DISTANCE = 0.024


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("member", [False, True])
def test_the_law_of_an_estimate_is_that_of_literal_draws(name, member):
    piece = PIECES[name]
    estimate, out, inside, _ = piece.table(N)
    drawn = piece.draw(np.random.default_rng([7, member]), GAMES, 1, N, member).ravel()
    order = np.argsort(estimate)
    cumulated = np.cumsum((inside if member else out)[order])
    # Compare at the middle of the gaps between table values, where a cell's mass is not split.
    at = np.quantile(drawn, np.linspace(0.02, 0.98, 49))
    cells = np.searchsorted(estimate[order], at, side="right")
    low, high = (np.concatenate([[0.0], cumulated])[np.clip(cells + k, 0, len(order))] for k in (-1, 1))
    found = np.searchsorted(np.sort(drawn), at, side="right") / GAMES
    below = np.searchsorted(np.sort(drawn), at, side="left") / GAMES
    assert (found >= low - DISTANCE).all()
    assert (below <= high + DISTANCE).all()


def test_a_wrong_law_is_seen():
    drawn = PIECES["mean"].draw(np.random.default_rng(0), GAMES, 1, N, True).ravel()
    estimate, out, _, _ = PIECES["mean"].table(N)
    at = np.median(drawn)
    assert abs(0.5 - out[estimate < at].sum()) > 4 * DISTANCE


@pytest.mark.parametrize("name", ["mean", "median", "slope", "logit", "block"])
def test_the_ratio_is_that_of_the_two_laws(name):
    """E_out exp(ratio) = 1 - P_in(+inf), and the probabilities themselves have that ratio."""
    _, out, inside, ratio = PIECES[name].table(101)
    finite = np.isfinite(ratio)
    assert out[finite] @ np.exp(ratio[finite]) == pytest.approx(1.0 - inside[~finite].sum(), abs=1e-6)
    kept = finite & (out > 1e-9)
    np.testing.assert_allclose(inside[kept] / out[kept], np.exp(ratio[kept]), rtol=2e-3)


def test_the_median_is_the_target_as_often_as_one_record_in_n_is_it():
    atoms = [
        median_piece(stats.laplace(), q).table(21)[2][-1]
        for q in (np.arange(200) + 0.5) / 200
        if 0.1 < q < 0.9
    ]
    assert sum(atoms) / 200 == pytest.approx(1 / 21, rel=0.01)


def test_literal_medians_reveal_their_target():
    assert "0.000 of the games out" in by_literal_match(games=300, n=21)


def test_one_wide_regression_is_far_from_the_first_order():
    alpha, beta = growing_curve(400, 200, 1.5)
    found = np.interp(0.1, alpha[::-1], beta[::-1])
    # out N(0, 2.25 tau/(1 - tau)), in N(2.25 tau, 2.25 tau (1 - tau)) for tau = 1/2
    limit = stats.norm.cdf((1.2816 * np.sqrt(2.25) - 1.125) / np.sqrt(0.5625))
    assert found == pytest.approx(limit, abs=0.02)
    assert found > float(azize.mean_tradeoff(1.125).beta(0.1)) + 0.1


def test_estimated_precision_loses_what_reed_mallett_and_brennan_say():
    """Known mean, Gaussian references: rho = (mu/sqrt m)^2 is Beta; 2000 draws, Hoeffding at 1e-9 gives 0.074."""
    rng = np.random.default_rng(1)
    references = rng.normal(size=(2000, 2 * D, D))
    _, inverse = score_matrix(references, False, 0.0)
    direction = np.full(D, 1.0)
    rho = effective(inverse @ direction, direction, np.eye(D), D) ** 2
    assert rho.mean() == pytest.approx((2 * D - D + 2) / (2 * D + 1), abs=0.074)
    assert stats.kstest(rho, stats.beta((D + 2) / 2, (D - 1) / 2).cdf).statistic < 0.074


def test_centred_and_uncentred_moments_are_numpys():
    references = np.random.default_rng(2).normal(1.0, 1.0, (2, 30, 3))
    for centred in (True, False):
        mean, inverse = score_matrix(references, centred, 0.1)
        second = np.cov(references[1].T, bias=True) if centred else references[1].T @ references[1] / 30
        np.testing.assert_allclose(np.linalg.inv(inverse[1]), second + 0.1 * np.eye(3), rtol=1e-9)
        np.testing.assert_allclose(mean[1], references[1].mean(axis=0))


BUDGET = Budget("quick", 1e-12, seed=1)


@pytest.mark.parametrize(
    ("module", "name", "verdict"),
    [
        (z_estimators, "mean, mean not 0: printed", Verdict.REFUTED),
        (z_estimators, "median, not at 0: printed", Verdict.REFUTED),
        (z_estimators, "least squares, unequal designs: printed", Verdict.REFUTED),
        (z_estimators, "logistic, slopes not 0: printed", Verdict.REFUTED),
        (canaries, "uncentred C0, known exactly", Verdict.REFUTED),
        (canaries, "lattice gradients, known moments", Verdict.REFUTED),
        (steps, "sign as printed", Verdict.REFUTED),
        (steps, "sign of descent, known moments", Verdict.CONFIRMED),
        (steps, "sign of descent, d/2 references, ridge 1e-3", Verdict.REFUTED),
    ],
)
def test_the_decisive_verdicts(module, name, verdict):
    regime = next(r for r in module.CLAIMS[0].regimes if r.name == name)
    result = regime.judge(BUDGET)
    assert result.verdict is verdict
    assert bool(result.second_route) == (verdict is Verdict.REFUTED)
