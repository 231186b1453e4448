"""From a game and an attack to the exact law of the score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mipsim._budget import check_budget
from mipsim._compiled import prepare
from mipsim._precision import exact_scope
from mipsim._printed import ceiling
from mipsim._signals import interruptible
from mipsim._validation import member
from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.function import as_attack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.empirical import Empirical
from mipsim.distributions.gaussian import Gaussian
from mipsim.exact.bracketed import bracketed_law, law_of_tails
from mipsim.exact.by_cdf import cdf_law
from mipsim.exact.derived_laws import AssumedLaw
from mipsim.exact.linear import linear_law
from mipsim.exact.quadratic import gaussian_output_law, quadratic_attack_law
from mipsim.forms.aim import check_aim
from mipsim.forms.polynomial import as_read, how_to_declare
from mipsim.forms.problem import FixedProblem, problem_of
from mipsim.forms.score import name_of
from mipsim.games.base import AbstractGame, AbstractMembershipGame, check_size
from mipsim.games.relaxed_threat import RelaxedThreat
from mipsim.tradeoff.score_law import AbstractScoreLaw

Rule = Callable[[FixedProblem], AbstractScoreLaw | None]
"""Returns the exact law of the score, or None where it does not apply. Is called inside `exact_scope`."""
RULES: tuple[Rule, ...] = (linear_law, cdf_law, quadratic_attack_law)
"""Tried in order; the first law that applies is taken. A new kind of exact law is a new file and a new name here."""

LARGEST_ERROR = 1e-3
"""A law that is not proven to be known as well as this is refused."""


@interruptible
def exact_law(game: AbstractGame, attack: AbstractAttack | Callable[..., Any]) -> AbstractScoreLaw:
    """The exact law of the attack's score in both worlds, without games.

    The law's `cdf(thresholds, inside=...)` and `sf` are right at any thresholds, such as the edges of a histogram, to
    `error_bound`, which is proven and at most 1e-3.

    It exists for a fixed target and a (sub-sampled) mean with independent noises (`GaussianNoise`, `LaplaceNoise`, `DiscreteGaussianNoise`, your own), stacked or none, where the score is:

    - linear in the output, for data of every product law but Student's, and for the user's own records (`Empirical`);
    - a polynomial of degree two in a Gaussian output;
    - any sum of a single term per coordinate, such as the likelihood ratio, without noise, for Bernoulli data and Discrete data
      on a lattice.

    In the relaxed threat model with Gaussian noise it exists for linear and quadratic scores. A law with
    small errors in both tails is taken where its bound is proven: few individual atoms, closed forms, inversion. Else the law
    is bracketed (`mipsim.exact.bracketed`): proven bounds of P(score > x) some 3e-4 apart, and relative bounds of smaller tails where there is no noise.

    Args:
        game: the game.
        attack: the attack.

    Raises:
        ValueError: where no exact law is known, or it is not proven to be known to 1e-3; the message says what makes it so.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
        >>> law = exact_law(game, mi.LikelihoodRatio(game.mechanism, data, 10))
        >>> print(law.cdf(0.0, inside=False).round(6), law.cdf(0.0, inside=True).round(6))
        0.639287 0.388701
        >>> exact_law(game, mi.FunctionAttack(lambda target, output: output.max()))
        Traceback (most recent call last):
        ...
        ValueError: ...
    """
    prepare()
    attack = as_attack(attack)
    check_size(member("game", game, AbstractGame, "a game"))
    check_aim(game, attack, stacklevel=5)  # a method that Equinox wraps
    if not isinstance(game, AbstractMembershipGame):
        raise ValueError(_refusal(game, attack))
    with exact_scope():
        law = (
            relaxed_law(game, attack) if isinstance(game, RelaxedThreat) else _fixed_target_law(game, attack)
        )
    if law is None:
        raise ValueError(_refusal(game, attack))
    if not law.error_bound <= LARGEST_ERROR:
        raise ValueError(_too_wide(game, attack, law))
    return law


@interruptible
def exact_tails(game: AbstractGame, attack: AbstractAttack | Callable[..., Any]) -> AbstractScoreLaw | None:
    """The law of `exact_law` between relative bounds of small tails, which take longer; None where there are none for additive scores."""
    with exact_scope():
        problem, _ = _fixed_problem(game, as_attack(attack))
        return None if problem is None else law_of_tails(problem)


def _fixed_target_law(game: AbstractMembershipGame, attack: AbstractAttack) -> AbstractScoreLaw | None:
    problem, assumed = _fixed_problem(game, attack)
    law = None if problem is None else _law_of(problem)
    return AssumedLaw(law, assumed) if law is not None and assumed else law


def _fixed_problem(game: AbstractGame, attack: AbstractAttack) -> tuple[FixedProblem | None, str]:
    """What is played, with the attack as its form, and what is assumed of the form; None where the target is not fixed."""
    problem = problem_of(game, attack)
    if not isinstance(problem, FixedProblem) or problem.mean.transform is not None:
        return None, ""
    data, mean = problem.data, problem.mean
    read, assumed = as_read(
        attack, problem.target, lambda: _around(data.mean, data.variance / mean.rows + mean.variance)
    )
    return replace(problem, attack=read), assumed


def _around(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Twelve outputs within some deviations of a mean, shape (12, d)."""
    spread = np.sqrt(np.where(np.isfinite(variance), variance, 1.0))
    return mean + 3.0 * spread * np.random.default_rng(0).normal(size=(12, mean.size))


def _law_of(problem: FixedProblem) -> AbstractScoreLaw | None:
    law = next((result for rule in RULES if (result := rule(problem)) is not None), None)
    known = []
    # The first that is proven well enough; reading a law's bound is what takes time.
    for route in (lambda: law, lambda: bracketed_law(problem), lambda: law_of_tails(problem)):
        check_budget()
        result = route()
        if result is not None and result.error_bound <= LARGEST_ERROR:
            return result
        known += [] if result is None else [result]
    return min(known, key=lambda law: law.error_bound, default=None)


def relaxed_law(game: RelaxedThreat, attack: AbstractAttack) -> AbstractScoreLaw | None:
    """A linear or quadratic score of query(D) + Gaussian noise, which the record shifts; None for others.

    The magnitude test in white noise is a chi-square, non-central "in"; with a rate below 1, a mixture with the central chi-square.

    Source: Kaissis et al. (2023), lemma 4 and theorem 2.
    """
    if not isinstance(game.noise, Gaussian) or game.shadows:
        return None
    centre = game.known + game.noise.mean
    centres, covariance = np.stack([centre, centre + game.shift]), np.asarray(game.noise.cov)
    read, assumed = as_read(
        attack, game.known, lambda: _around(centres.mean(axis=0), np.asarray(game.noise.variance))
    )
    law = gaussian_output_law(read, game.known, centres, [covariance, covariance], game.sampling_rate)
    return AssumedLaw(law, assumed) if law is not None and assumed else law


def _too_wide(game: AbstractMembershipGame, attack: AbstractAttack, law: AbstractScoreLaw) -> str:
    """What makes the law hard: noise that is fine against gaps of the data, or likely values among too many others."""
    problem = problem_of(game, attack)
    mean = None if problem is None else problem.mean
    if isinstance(game.data, Gaussian):
        why = f"as a quadratic form of {game.data.dimension} normals it has a characteristic function that falls too slowly"
    elif mean is not None and mean.is_noisy:
        why = f"the noise of standard deviation {mean.finest_noise:.3g} is too fine against the gaps between the values of the data"
    elif mean is not None and mean.rate < 1.0:
        why = f"with rows included by coins of rate {mean.rate:g} a row has too many outcomes to be multiplied out"
    elif not isinstance(game.data, (Bernoulli, Discrete, Empirical)):
        why = f"n d = {game.n * game.data.dimension} terms are too few for the characteristic function to fall fast enough"
    else:
        why = (
            f"with n = {game.n} rows and d = {game.data.dimension} coordinates some values of the score are too likely for a "
            "smooth law, and all of them too many for a list"
        )
    return (
        f"the law of {name_of(attack)} with {kind_of(game.data)} data is proven to {ceiling(law.error_bound, 2)} only, and "
        f"{LARGEST_ERROR:g} is needed: {why}"
    )


def _refusal(game: AbstractGame, attack: AbstractAttack) -> str:
    mechanism = kind_of(game.mechanism)
    data = f" of {kind_of(game.data)} data" if isinstance(game, AbstractMembershipGame) else ""
    return (
        f"the score of {name_of(attack)} has no known exact distribution in {kind_of(game)} with {mechanism}{data}; "
        "allowed are those in the help of game.exact; mipsim.play gives a band instead"
        + declaring(game, attack)
    )


def declaring(game: AbstractGame, attack: AbstractAttack) -> str:
    """What to write where the operations of a user's score do not show its form, and a law would follow from the form; else empty."""
    if isinstance(game, RelaxedThreat):
        follows = isinstance(game.noise, Gaussian) and not game.shadows
    else:
        problem = problem_of(game, attack)
        follows = isinstance(problem, FixedProblem) and problem.mean.transform is None
    return how_to_declare(attack) if follows else ""
