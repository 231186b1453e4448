"""What the documentation says of additions is true: each is its own few lines, and the rest of the library serves it as any member."""

import inspect
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import logistic

import mipsim as mi
from mipsim._validation import number

PAGE = Path(__file__).parents[1] / "docs/contributing.md"


class CosineScore(mi.AbstractAttack):
    """The cosine of the angle between target and output, both seen from a centre."""

    centre: np.ndarray

    def score(self, target, output):
        a, b = target - self.centre, output - self.centre
        return a @ b / (jnp.linalg.norm(a) * jnp.linalg.norm(b))


class LogisticTradeOff(mi.AbstractTradeOff):
    """Distinguish a logistic variable from a variable shifted by mu."""

    mu: float

    def __check_init__(self):
        number("mu", self.mu, 0.0)

    def enclosure(self, log_fpr):
        shift = lambda fpr: (expit(-logit(fpr) - self.mu), expit(logit(fpr) + self.mu))  # noqa: E731
        return mi.bounds_from_rates(shift, log_fpr)

    def is_convex(self):
        return True


def test_an_attack_plays_in_any_game_and_is_compared():
    data = mi.Gaussian(0.5, 1.0, d=8)
    attack = CosineScore(np.full(8, 0.5))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=6, target=np.full(8, 2.0))
    counts = mi.play(game, attack, 4_000, progress=False)
    # Records that are sampled without their rows, in the same time as for any other attack.
    assert counts.manifest["sampler"] == "columns"
    assert counts.manifest["attack"]["class"].endswith("CosineScore")
    assert counts.tradeoff().compare(mi.GaussianTradeOff(0.0), tolerance=0.1).verdict == "REFUTED"
    for again in (mi.play(game, attack, 4_000, progress=False, chunk=1), counts):
        np.testing.assert_array_equal(again.inside, counts.inside)
    with pytest.raises(ValueError, match=r"^the score of CosineScore has no known exact distribution"):
        game.exact(attack)


def test_a_trade_off_function_has_the_whole_algebra():
    curve, alpha = LogisticTradeOff(1.5), np.linspace(0.01, 0.99, 21)
    by_scipy = logistic.cdf(logistic.isf(alpha), 1.5)
    np.testing.assert_allclose(curve.beta(alpha), by_scipy, rtol=1e-12)
    np.testing.assert_allclose(curve.tpr_at(1e-12), 1e-12 * np.exp(1.5), rtol=1e-9)
    np.testing.assert_allclose(curve.inverse().beta(alpha), curve.beta(alpha), atol=1e-9)  # by symmetry
    np.testing.assert_allclose(curve.advantage(), 2 * expit(0.75) - 1, atol=1e-6)
    assert (curve.subsampled(0.5).beta(alpha) >= curve.beta(alpha)).all()
    with pytest.raises(ValueError, match=r"^mu is -1"):
        LogisticTradeOff(-1.0)


def lines_of(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


def test_the_counts_in_the_documentation_are_those_of_real_additions():
    assert (PAGE.parent / "additions.md").read_text(encoding="utf-8").count("```python\n") == 6
    noise = Path(inspect.getfile(mi.DiscreteGaussianNoise)).read_text(encoding="utf-8")
    code = noise[noise.index("class ") :]
    code = code[: code.index('    """base')] + code[code.index("    base: Abs") :]
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"`DiscreteGaussianNoise` is {lines_of(code)} lines of code" in text
    assert f"a cosine attack is {lines_of(inspect.getsource(CosineScore))}" in text
    assert f"a logistic trade-off function {lines_of(inspect.getsource(LogisticTradeOff))}" in text
