"""Moments of Z-estimators against those of literal draws."""

import numpy as np
import pytest

from mipsim.exact.z_estimators import (
    block_piece,
    exponential_median_piece,
    logistic_median_piece,
    logit_piece,
    mean_piece,
    slope_piece,
)

PIECES = {
    "mean": mean_piece(1.0, 2.0, 4.0),
    "logistic median, above": logistic_median_piece(1.0, 0.5, 0.999),
    "logistic median, below": logistic_median_piece(1.0, 2.0, 0.001),
    "exponential median, above": exponential_median_piece(0.999),
    "exponential median, below": exponential_median_piece(0.001),
    "slope": slope_piece(2.0, 1.5, 2.0, -1.0),
    "logit": logit_piece(0.7, True),
    "block": block_piece(3, 4.0, 1.2),
}
N, GAMES = 61, 20_000
# A mean or a variance of 20,000 draws is off by more than 7.5 of its standard errors with probability 1e-13, were it normal; the
# laws are near normal at n = 61 and the 32 comparisons below together fail with probability below 1e-9.
WIDE = 7.5


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("member", [False, True])
def test_the_moments_of_an_estimate_are_those_of_literal_draws(name, member):
    piece = PIECES[name]
    world = piece.worlds(N)[int(member)]
    drawn = piece.draw(np.random.default_rng([7, member]), GAMES, 1, N, member).ravel()
    x = np.sqrt(N / piece.sigma) * (drawn - piece.theta)
    variance = world.variance + world.mean_spread
    assert abs(x.mean() - world.mean) <= WIDE * x.std() / np.sqrt(GAMES) + world.mean_error
    assert (
        abs(x.var() - variance) <= WIDE * ((x - x.mean()) ** 2).std() / np.sqrt(GAMES) + world.variance_error
    )
    # The shift that the corrected score sees, t / sqrt(n) to first order.
    if member:
        out = piece.worlds(10**8 + 1)[0]
        inside = piece.worlds(10**8 + 1)[1]
        t = piece.influence / np.sqrt(piece.sigma)
        assert (inside.mean - out.mean) * 1e4 == pytest.approx(t, rel=1e-3)


def test_wrong_moments_are_seen():
    piece = PIECES["logistic median, above"]
    out, inside = piece.worlds(N)
    drawn = piece.draw(np.random.default_rng(0), GAMES, 1, N, True).ravel()
    x = np.sqrt(N / piece.sigma) * (drawn - piece.theta)
    assert abs(x.mean() - out.mean) > 2 * WIDE * x.std() / np.sqrt(GAMES)
    assert abs(x.mean() - inside.mean) <= WIDE * x.std() / np.sqrt(GAMES)


@pytest.mark.parametrize("name", [name for name, piece in PIECES.items() if piece.ratio])
def test_the_ratio_has_the_moments_of_a_likelihood_ratio(name):
    """To first order -t^2/2n and +t^2/2n, variance t^2/n."""
    n = 10**6 + 1
    t = PIECES[name].influence / np.sqrt(PIECES[name].sigma)
    for sign, world in zip((-1, 1), PIECES[name].ratio_worlds(n), strict=True):
        assert world.mean * n == pytest.approx(sign * t**2 / 2, rel=2e-3)
        assert world.variance * n == pytest.approx(t**2, rel=2e-3)
