"""What an argument is called elsewhere is refused with its name here."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim._validation import SAME_THING

GAUSS, MEAN = mi.GaussianTradeOff(1.0), mi.EmpiricalMean()
ELSEWHERE: list[tuple[Callable[..., Any], str, str]] = [
    (lambda **named: mi.dpsgd(1.0, **named), "sample_rate", "sampling_rate"),  # riskcal, Opacus
    (lambda **named: mi.dpsgd(1.0, **named), "num_steps", "steps"),
    (lambda **named: mi.find_noise_multiplier_for_mu(1.0, **named), "sampling_probability", "sampling_rate"),
    (lambda **named: mi.find_noise_multiplier_for_advantage(0.1, **named), "num_steps", "steps"),
    (lambda **named: mi.compose(GAUSS, **named), "num_compositions", "copies"),  # PRV
    (lambda **named: mi.compose(GAUSS, **named), "count", "copies"),  # dp-accounting
    (lambda **named: GAUSS.subsampled(**named), "sample_rate", "sampling_rate"),
    (lambda **named: mi.MixtureTradeOff(GAUSS, **named), "rho", "sampling_rate"),
    (lambda **named: mi.Subsampled(MEAN, **named), "rho", "sampling_rate"),
    (lambda **named: mi.PoissonSubsampled(MEAN, **named), "rate", "sampling_rate"),
    (lambda **named: mi.GaussianNoise(MEAN, **named), "gamma", "record_deviation"),
    (lambda **named: mi.DiscreteGaussianNoise(MEAN, step=1.0, **named), "sigma", "deviation"),
    (lambda **named: mi.SGDStep(noise_multiplier=1.0, **named), "max_grad_norm", "clip"),  # Opacus
    (lambda **named: mi.audit([0.0], design="independent", **named), "y_true", "member"),
]


@pytest.mark.parametrize(("call", "theirs", "ours"), ELSEWHERE, ids=[f"{a}-{b}" for _, a, b in ELSEWHERE])
def test_another_librarys_name_is_answered_with_ours(
    call: Callable[..., Any], theirs: str, ours: str
) -> None:
    with pytest.raises(TypeError, match=f"has no argument '{theirs}'; its name here is {ours}$"):
        call(**{theirs: 0.5})


def test_other_unknown_names_are_left_to_python_and_known_ones_pass() -> None:
    call: Any = mi.dpsgd
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        call(1.0, colour=1)
    assert mi.Subsampled(base=MEAN, sampling_rate=0.5).sampling_rate == 0.5
    assert mi.MixtureTradeOff(inner=GAUSS, sampling_rate=0.5).beta(0.0) == 0.5 * GAUSS.beta(0.0) + 0.5
    assert "sampling_rate" in inspect.signature(mi.dpsgd).parameters


def test_no_signature_has_two_names_of_one_thing() -> None:
    """Else the wrong one of them could be named. A classifier's scale of features or a law's scale is in no group."""
    for name in mi.__all__:
        made = getattr(mi, name)
        if callable(made):
            parameters = set(inspect.signature(made).parameters)
            assert all(len(group & parameters) <= 1 for group in SAME_THING), name


def test_scores_by_scikit_learns_names_are_refused() -> None:
    labels = np.repeat([0.0, 1.0], 50)
    scores = labels + np.random.default_rng(0).normal(size=100)
    made: Any = mi.EmpiricalTradeOff.from_scores
    with pytest.raises(ValueError, match="must both be given by name; of scores s with labels y"):
        made(y_true=labels, y_score=scores)
    with pytest.raises(TypeError, match="from_scores has no argument 'colour'"):
        made(out_scores=labels, in_scores=scores, colour=1)
    for named in (
        {"out_scores": labels, "in_scores": scores},
        {"out_scores": scores, "in_scores": labels.astype(int)},
    ):
        with pytest.raises(ValueError, match="holds 0 and 1 alone, as labels do"):
            made(**named)
    assert made(out_scores=labels, in_scores=np.roll(labels, 3)).out_games == 100  # a yes/no attack
    assert made(out_scores=labels, in_scores=scores[1:]).out_games == 100
    with pytest.raises(ValueError, match="scores come first"):
        mi.audit(labels, scores, design="independent")
