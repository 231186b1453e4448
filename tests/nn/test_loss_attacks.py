"""Attacks on a trained model by what it says of the target, against the same in NumPy; shadow models."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

import mipsim as mi
from mipsim import data, nn
from tests.right_arguments import zeros

DIGITS, NETWORK = data.digits(), nn.linear((8, 8, 1), 10)
START = zeros(NETWORK)
LABELS = DIGITS.y.copy()
LABELS[5] = (LABELS[5] + 1) % 10  # a canary
POOL, POPULATION, N = np.arange(400, 1797), np.arange(10, 110), 48
DESCENT = nn.Descent(NETWORK, START, DIGITS.x, LABELS, batch=12, steps=40, rate=1.0, releases="parameters")


def game(target: int) -> mi.FixedTarget:
    return mi.FixedTarget(DESCENT, DESCENT.records(POOL), N, [target])


@cache
def models(target: int, member: bool) -> np.ndarray:
    return nn.shadow_models(game(target), 24, member=member, seed=1)


def confidences(parameters: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Of each model (m, D) in the label of each row, shape (m, rows), float64."""
    result = []
    for item in parameters:
        logits = np.asarray(NETWORK.apply(NETWORK.with_flat(START, item), jnp.asarray(DIGITS.x[rows])), float)
        result.append(special.softmax(logits, axis=1)[np.arange(len(rows)), LABELS[rows]])
    return np.array(result)


def density(value: float, mean: float, deviation: float) -> float:
    return float(stats.norm.logpdf(value, mean, deviation))


@pytest.mark.evidence
def test_likelihood_ratios_are_those_of_normal_laws_fitted_to_shadow_models() -> None:
    out, inside, released = models(5, False), models(5, True), models(5, True)[3].astype(float)
    phi = special.logit(confidences(np.stack([released, *out, *inside]), np.array([5]))[:, 0])
    own, without, within = phi[0], phi[1:25], phi[25:]
    online = density(own, within.mean(), within.std()) - density(own, without.mean(), without.std())
    pooled = np.sqrt((within.var() + without.var()) / 2)
    shared = density(own, within.mean(), pooled) - density(own, without.mean(), pooled)
    offline = (own - without.mean()) / without.std()
    for attack, expected in (
        (nn.LossThreshold(DESCENT), np.log(special.expit(own))),
        (nn.LiRA(DESCENT, out, inside), online),
        (nn.LiRA(DESCENT, out, inside, shared_variance=True), shared),
        (nn.LiRA(DESCENT, out), offline),
    ):
        assert float(attack.score(jnp.array([5.0]), released)) == pytest.approx(expected, rel=1e-4)  # pyright: ignore[reportArgumentType]


@pytest.mark.evidence
def test_the_share_of_the_population_that_the_target_beats() -> None:
    out, inside = models(6, False), models(6, True)
    rows, a, counted = np.append(6, POPULATION), 0.3, []
    for released in models(6, True)[:3].astype(float):
        own, without = confidences(released[None], rows)[0], confidences(out, rows)
        within = confidences(inside, rows[:1])
        usual = ((1 + a) * without.mean(axis=0) + (1 - a)) / 2
        online = usual.copy()
        online[0] = (without[:, 0].mean() + within[:, 0].mean()) / 2
        for attack, against in (
            (nn.RMIA(DESCENT, POPULATION, out), usual),
            (nn.RMIA(DESCENT, POPULATION, out, inside), online),
        ):
            ratio = own / against
            expected = np.mean(ratio[0] >= 2.0 * ratio[1:])
            # float32 models: a record of the population whose ratio is the target's to 1e-4 may fall on either side
            near = np.mean(np.abs(ratio[0] / (2.0 * ratio[1:]) - 1) < 1e-4)
            assert abs(float(attack.score(jnp.array([6.0]), released)) - expected) <= near + 1e-12  # pyright: ignore[reportArgumentType]
            counted.append(expected)
    assert 0.0 < np.mean(counted) < 1.0, "some beat it and some do not"


@pytest.mark.evidence
def test_shadow_models_are_trained_as_those_of_the_games() -> None:
    """The target's log-odds under shadow models have the law of those in the games, by Kolmogorov and Smirnov at 1e-6; those of the other world do not."""
    out, inside = (
        special.logit(confidences(nn.shadow_models(game(5), 200, member=m, seed=2), np.array([5]))[:, 0])
        for m in (False, True)
    )
    edges = np.linspace(-12.0, 12.0, 400)
    attack = nn.LiRA(DESCENT, np.stack([*models(5, False)]))
    mean, spread = (
        f(special.logit(confidences(models(5, False), np.array([5]))[:, 0])) for f in (np.mean, np.std)
    )
    played = mi.play(game(5), attack, 2_000, seed=9, edges=(edges - mean) / spread, progress=False)
    for counts, own, other in ((played.out, out, inside), (played.inside, inside, out)):
        whole = np.cumsum(counts[:-1]) / counts.sum()

        def distance(sample: np.ndarray, whole: np.ndarray = whole) -> float:
            return float(np.abs((sample[:, None] <= edges).mean(axis=0) - whole).max())

        limit = stats.ksone.isf(1e-6 / 2, 200) * np.sqrt(1 + 200 / 2_000)
        assert distance(own) < limit < distance(other)
