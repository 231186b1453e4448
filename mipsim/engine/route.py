"""The route of a game: which sampler plays it, the first row of a table all of whose needs are met."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mipsim._words import kind_of
from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.attacks.covariance import CovarianceScore
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.empirical import Empirical
from mipsim.distributions.gaussian import Gaussian
from mipsim.distributions.transforms import NormClip
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.clipped import clipped_law_sampler, clipped_sampler
from mipsim.engine.samplers.columns import column_sampler
from mipsim.engine.samplers.literal import law_sampler, literal_sampler
from mipsim.engine.samplers.normal import normal_sampler, quadratic_sampler, random_normal_sampler
from mipsim.engine.samplers.records import records_sampler
from mipsim.engine.samplers.table import table_sampler
from mipsim.forms.problem import FixedProblem, Problem, problem_of
from mipsim.forms.score import name_of, quadratic_form_of
from mipsim.games.base import AbstractGame, AbstractMembershipGame

FIDELITIES = ("auto", "literal", "sufficient", "projected", "exact")
"""From every sampled record to no game at all; "auto" takes the cheapest faithful fidelity that plays."""


class Need(NamedTuple):
    """What a sampler needs: in words, and whether a problem meets it."""

    words: str
    is_met: Callable[[Any], bool]


FIXED = Need("a fixed target", lambda p: isinstance(p, FixedProblem))
RANDOM = Need("a random target", lambda p: not isinstance(p, FixedProblem))
LISTED, COINS, NORMAL = (
    Need(f"{kind.__name__} data", lambda p, kind=kind: isinstance(p.data, kind))
    for kind in (Empirical, Bernoulli, Gaussian)
)
PRODUCT = Need("independent coordinates", lambda p: p.data.is_product)
ISOTROPIC = Need("equal variances and no correlations", lambda p: _is_isotropic(p.data))
LINEAR = Need("a linear score", lambda p: isinstance(p.attack, AbstractLinearAttack))
TERMS = Need("an additive score, or under noise a linear score", lambda p: _has_terms(p))
QUADRATIC = Need("a quadratic score", lambda p: quadratic_form_of(p.attack) is not None)
COVARIANCE = Need("a CovarianceScore of the data's mean", lambda p: _is_covariance(p.attack, p.data.mean))
AS_THEY_ARE = Need("records that are averaged as they are", lambda p: p.mean.transform is None)
CLIPPED = Need("records that are clipped by their norm", lambda p: isinstance(p.mean.transform, NormClip))
WHOLE = Need("no Poisson sample", lambda p: p.mean.rate == 1.0)
SINGLE_COIN = Need("no sub-sample of a Poisson sample", lambda p: 1.0 in (p.mean.rate, p.mean.inclusion))
NORMAL_NOISE = Need("no noise but Gaussian", lambda p: not p.mean.noises)
NO_DRAW = Need(
    "other data than Gaussian, or neither other noise nor a Poisson sample",
    lambda p: not isinstance(p.data, Gaussian) or (p.mean.rate == 1.0 and not p.mean.noises),
)
OUTPUT = Need(
    "an exact distribution of the output",
    lambda given: isinstance(given[0], AbstractMembershipGame) and given[0].exact_round() is not None,
)


def _has_terms(problem: Problem) -> bool:
    kind = AbstractLinearAttack if problem.mean.has_gaussian_noise else AbstractAdditiveAttack
    return isinstance(problem.attack, kind)


def _is_covariance(attack: AbstractAttack, mean: np.ndarray) -> bool:
    return isinstance(attack, CovarianceScore) and attack.aim is None and np.array_equal(attack.mean, mean)


def _is_isotropic(data: Gaussian) -> bool:
    variance = data.variance
    alone = data.is_product or np.array_equal(data.cov, np.diag(variance))
    return alone and bool((variance == variance[0]).all())


class Row(NamedTuple):
    """A sampler, what it needs, and what builds it, or finds that its tables would be too large."""

    fidelity: str
    draws: str  # what it draws
    needs: tuple[Need, ...]
    build: Callable[[Any], AbstractSampler | None]
    # what it reads: a mean of rows, of what the mechanism makes of each record where the distribution of that is known (True), or of the
    # records as they are (False); None for the game and the attack
    transformed: bool | None = True

    def sampler(self, given: Any) -> AbstractSampler | str:
        """The sampler, or what it lacks."""
        if given is None:
            return "a mean of rows"
        lacking = next((need.words for need in self.needs if not need.is_met(given)), None)
        return lacking or self.build(given) or "smaller tables, or another form of data and score"


# Needs that several rows share.
NORMAL_MEAN, CLIPPED_MEAN = (AS_THEY_ARE, NORMAL_NOISE), (FIXED, NORMAL, LINEAR, CLIPPED, WHOLE, NORMAL_NOISE)
ROWS = (
    Row("projected", "the score, a number for each listed record", (LISTED, LINEAR, NORMAL_NOISE, SINGLE_COIN), records_sampler, False),
    Row("projected", "the score, a normal number", (NORMAL, FIXED, LINEAR, *NORMAL_MEAN, SINGLE_COIN), normal_sampler),
    Row("projected", "the score, a normal number and a chi-square", (NORMAL, RANDOM, COVARIANCE, *NORMAL_MEAN, WHOLE), random_normal_sampler),
    Row("projected", "the quadratic form of the score, a chi-square", (NORMAL, FIXED, QUADRATIC, *NORMAL_MEAN, WHOLE), quadratic_sampler),
    Row("projected", "what the score needs of each clipped record", (*CLIPPED_MEAN, ISOTROPIC), clipped_law_sampler),
    Row("sufficient", "the score, from tables of the counts of coordinates", (COINS, *NORMAL_MEAN, WHOLE, TERMS), table_sampler),
    Row("sufficient", "each column sum, from tables", (PRODUCT, AS_THEY_ARE, SINGLE_COIN, NO_DRAW), column_sampler),
    Row("sufficient", "the output, from its exact distribution", (OUTPUT,), lambda given: law_sampler(*given), None),
    Row("literal", "every record of a clipped step, as float32", (*CLIPPED_MEAN, PRODUCT), clipped_sampler, False),
    Row("literal", "every record", (), lambda given: literal_sampler(*given), None),
)  # fmt: skip
"""Read in order, the cheapest first. A new sampler is a new file and a row here."""


@dataclass(frozen=True)
class Route:
    """Which sampler plays a game, and why no cheaper sampler does.

    Attributes:
        fidelity: "literal", "sufficient" or "projected".
        sampler: its name, as in manifests.
        draws: what it draws.
        passed: of each cheaper sampler, what it draws and what it needs that this game and attack do not have.
    """

    fidelity: str
    sampler: str
    draws: str
    passed: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        lines = (f"not {draws}: that needs {lacking}" for draws, lacking in self.passed)
        return "\n  ".join((f'{self.fidelity} fidelity ("{self.sampler}") draws {self.draws}', *lines))


def build_sampler(game: AbstractGame, attack: AbstractAttack, fidelity: str) -> AbstractSampler:
    """The sampler of `choose`, alone."""
    return choose(game, attack, fidelity)[0]


def choose(game: AbstractGame, attack: AbstractAttack, fidelity: str) -> tuple[AbstractSampler, Route]:
    """The sampler of a fidelity, of "auto" the cheapest faithful sampler, with its route. Must be called inside `exact_scope`.

    `game`: what is played; `fidelity`: an entry of `FIDELITIES` but "exact". Raises ValueError if the requested fidelity
    does not exist for this game and attack.
    """
    given = {transformed: problem_of(game, attack, transformed) for transformed in (True, False)}
    passed: list[tuple[str, str]] = []
    for row in ROWS:
        if fidelity in ("auto", row.fidelity):
            sampler = row.sampler((game, attack) if row.transformed is None else given[row.transformed])
            if not isinstance(sampler, str):
                return sampler, Route(sampler.fidelity, sampler.name, row.draws, tuple(passed))
            passed.append((row.draws, sampler))
    raise ValueError(
        f"fidelity is {fidelity!r}, but {kind_of(game)} with {kind_of(game.mechanism)} and {name_of(attack)} has no such sampler; "
        "use 'auto', and see game.route(attack) for what each sampler needs"
    )
