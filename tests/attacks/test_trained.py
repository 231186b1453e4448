"""A trained classifier: it reaches what a known law says, sees what a line cannot, and never claims what is not there."""

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim import referee as rf

GAMES = 100_000
# Of the bands over all thresholds; two or three of them are read in this file: together below 1e-8.
CONFIDENCE = 1 - 1e-9


def shifted(key, x):
    return x + jax.random.normal(key, x.shape)


def widened(key, x):
    """The input is seen in the spread alone: no line tells the worlds apart."""
    return (1.0 + x) * jax.random.normal(key, x.shape)


def power(
    game: mi.TwoInputs, attack: mi.AbstractAttack, alpha: float, games: int = GAMES
) -> tuple[float, float]:
    """Proven bounds of the attack's TPR at an FPR."""
    low, high = (
        mi.play(game, attack, games, 5, progress=False)
        .tradeoff(confidence=CONFIDENCE)
        .band(np.array([alpha]))
    )
    return 1.0 - float(high[0]), 1.0 - float(low[0])


@pytest.mark.evidence
@pytest.mark.parametrize(
    "hidden", [pytest.param((), id="logistic"), pytest.param((16, 16), id="network", marks=pytest.mark.slow)]
)
def test_it_reaches_the_law_that_is_known(hidden):
    """N(x, I) at (0, 0) and (1, 1) is G_mu with mu = sqrt 2; a score within 10% of its direction and slope loses .02 of mu at most."""
    game = mi.TwoInputs(shifted, [0.0, 0.0], [1.0, 1.0])
    low, high = power(game, mi.trained_attack(game, 20_000, 1, hidden), 0.1)
    best = float(mi.GaussianTradeOff(np.sqrt(2)).tpr_at(0.1))
    assert low <= best
    assert high >= float(mi.GaussianTradeOff(np.sqrt(2) - 0.02).tpr_at(0.1))


@pytest.mark.evidence
def test_a_network_sees_what_a_line_cannot():
    game = mi.TwoInputs(widened, [0.0, 0.0], [1.0, 1.0])
    flat, seeing = (
        power(game, mi.trained_attack(game, 5_000, 2, hidden), 0.1, 20_000) for hidden in ((), (16, 16))
    )
    # A line sees at best a single tail of a law twice as wide: P(|Z| > 1.64/2)/2 = .2, .26 at all angles.
    assert flat[0] < 0.35
    assert seeing[0] > flat[1]


@pytest.mark.evidence
def test_the_referee_uses_it_and_confirms_no_bound_by_it():
    """An attack that was learned can refute; what it does not refute may be false for a stronger attack."""

    def truth(mu):
        game = mi.TwoInputs(shifted, [0.0, 0.0], [mu, 0.0])
        return game, mi.trained_attack(game, 5000)

    def statement(claimed):
        return rf.Statement(
            name="trained", says="mu-GDP", source="p", kind=rf.Bound(), domain={"mu": rf.Real(0.5, 2.0)},
            claimed=lambda mu: mi.GaussianTradeOff(claimed * mu), truth=truth,
        )  # fmt: skip

    verdicts = [str(rf.judge(statement(c), at={"mu": 1.5}, games=50_000).verdict) for c in (0.9, 1.1)]
    assert verdicts == ["REFUTED", "INCONCLUSIVE"]


@pytest.mark.evidence
def test_equal_inputs_show_nothing():
    game = mi.TwoInputs(shifted, [1.0], [1.0])
    low, _ = power(game, mi.trained_attack(game, 1000, 3, (8,)), 0.1, 20_000)
    assert low <= 0.1


@pytest.mark.evidence
def test_the_same_seed_learns_the_same_and_another_does_not():
    game = mi.TwoInputs(shifted, [0.0], [1.0])
    first, again, other = (mi.trained_attack(game, 500, seed).layers[0][0] for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all()


@pytest.mark.evidence
@pytest.mark.parametrize("shape", [(), pytest.param((2, 2), marks=pytest.mark.slow)])
def test_outputs_of_any_shape(shape):
    game = mi.TwoInputs(lambda key, x: x[0] + jax.random.normal(key, shape), [0.0], [1.0])
    assert mi.play(game, mi.trained_attack(game, 500), 1000, 0, progress=False).games == 1000
