"""What a new user mistypes first gets a single sentence before any work."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mipsim as mi

DATA = mi.Gaussian(np.zeros(3), np.ones(3))
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=np.ones(3))


@pytest.mark.parametrize(
    ("name", "close"), [("GausianNoise", "GaussianNoise"), ("FixedTraget", "FixedTarget"), ("adit", "audit")]
)
def test_a_mistyped_name_gets_the_close_ones(name: str, close: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; did you mean .*{close}"):
        getattr(mi, name)


@pytest.mark.parametrize("attack", [mi.CovarianceScore, mi.GaussianLikelihoodRatio])
def test_an_attack_for_another_number_of_records_is_warned_of(attack: type) -> None:
    with pytest.warns(UserWarning, match="made for a mean of 11 rows, but the game's mechanism averages 10"):
        GAME.exact(attack(DATA, n=11, target=GAME.target))


def test_a_class_or_counts_in_the_wrong_place_get_a_single_sentence() -> None:
    attack = mi.CovarianceScore(DATA, n=10, target=GAME.target)
    counts = mi.play(GAME, attack, games=1000, progress=False)
    with pytest.raises(ValueError, match="mechanism is the class EmpiricalMean; it must be a mechanism"):
        mi.FixedTarget(mi.EmpiricalMean, DATA, n=10, target=np.zeros(3))
    with pytest.raises(ValueError, match="attack is the class CovarianceScore"):
        mi.play(GAME, mi.CovarianceScore, games=1000)
    curve: Any
    game: Any
    law: Any
    curve, game, law = mi.GaussianTradeOff, mi.FixedTarget, mi.Gaussian
    wrong: dict[str, Callable[[], object]] = {
        "claim is the class GaussianTradeOff": lambda: counts.tradeoff().compare(curve),
        "claim is the class Gaussian.*, or text": lambda: mi.audit([0.0], [1], design="one-run", claim=curve),
        "game is the class FixedTarget; it must be a game": lambda: mi.play(game, attack, games=1),
        "data is the class Gaussian": lambda: mi.FixedTarget(mi.EmpiricalMean(), law, n=9, target=[0]),
        "moments is the class Gaussian": lambda: mi.CovarianceScore(law, n=9),
        "an entry of curves is the class Gaussian": lambda: mi.compose(curve),
    }
    for words, call in wrong.items():
        with pytest.raises(ValueError, match=f"{words}.*: call the class$"):
            call()
    with pytest.raises(ValueError, match=r"claim is Histogram.*counts.tradeoff\(\)"):
        GAME.exact(attack).compare(counts)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="gave NaN for"):
        mi.play(GAME, lambda target, output: np.nan * output[0], games=1000)


def test_a_mistyped_word_gets_the_close_ones() -> None:
    with pytest.raises(ValueError, match=r"design is 'independant'; .*; did you mean independent\?"):
        mi.audit([0.0], [1], design="independant")
