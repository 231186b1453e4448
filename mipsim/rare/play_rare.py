"""`play_rare`: false-positive rates of 1e-6 and less from twenty thousand games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mipsim._precision import exact_scope
from mipsim._signals import interruptible
from mipsim._validation import confidence_level, finite_vector, refuse_class, whole
from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.attacks.function import as_attack
from mipsim.attacks.likelihood_ratio import GaussianLikelihoodRatio, LikelihoodRatio
from mipsim.bands.played import RareTradeOff
from mipsim.bands.scaled_rates import ScaledRates
from mipsim.distributions.gaussian import Gaussian
from mipsim.engine.checkpoint import DRAWS
from mipsim.engine.counting import play_range
from mipsim.engine.describe import array_digest, describe, versions
from mipsim.engine.devices import cores
from mipsim.engine.options import Options
from mipsim.forms.aim import check_aim
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.rare.diagnostics import TailEstimate, check_agreement, check_moments, kurtosis_of
from mipsim.rare.gaussian_ratio import GaussianRatio
from mipsim.rare.linear_score import LinearScore
from mipsim.rare.plan import Tilt, plan
from mipsim.rare.table_score import TableScore
from mipsim.rare.thinning import Thinner, moments_of, untilted
from mipsim.rare.tilted_score import IN, OUT, AbstractTiltedScore

FALSE_POSITIVE_RATES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 2e-2)
"""Where thresholds are placed unless others are requested."""

_MOST_RATE = 0.25  # rates above need no rare games


def score_law(game: AbstractMembershipGame, attack: AbstractAttack) -> AbstractTiltedScore:
    """What tilts the score of this attack in this game.

    Raises:
        ValueError: if no exact tilted law is known; the message says for which laws it is.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
        >>> [score_law(game, a).name for a in (mi.CovarianceScore(data, 10), mi.LikelihoodRatio(game.mechanism, data, 10))]
        ['linear score, tilted records', 'additive score, tilted terms']
    """
    mean = game.mechanism.plain_mean(game.n)
    if not isinstance(game, FixedTarget) or mean is None:
        raise ValueError(
            f"game is {type(game).__name__} of {type(game.mechanism).__name__}; rare rates are for FixedTarget games of "
            "EmpiricalMean, with GaussianNoise or Subsampled around it, where the weights are exact"
        )
    if isinstance(attack, AbstractLinearAttack):
        return LinearScore(game, mean, attack)
    if isinstance(attack, (LikelihoodRatio, GaussianLikelihoodRatio)) and isinstance(game.data, Gaussian):
        return GaussianRatio(game, mean, attack)
    if isinstance(attack, AbstractAdditiveAttack) and not np.any(mean.variance):
        return TableScore(game, mean, attack)
    raise ValueError(
        f"attack {type(attack).__name__} cannot be tilted here; rare rates are for linear attacks, the likelihood ratio of "
        "Gaussian data, and additive attacks on a noiseless mean of Bernoulli data"
    )


@interruptible
def play_rare(
    game: AbstractMembershipGame,
    attack: AbstractAttack,
    games: int,
    seed: int = 0,
    *,
    false_positive_rates: object = FALSE_POSITIVE_RATES,
    confidence: float = 0.999,
    chunk: int | None = None,
    workers: int | None = None,
) -> RareTradeOff:
    """Estimate a trade-off curve at small false-positive rates by exponential tilting with thinning.

    Games are sampled from dP_theta = exp(theta S - K(theta)) dP, S the score, under which {S > t} is common. The weight
    dP / dP_theta = exp(K(theta) - theta S) is exact and at most B = exp(K(theta) - theta t) on {S > t}; a game is accepted
    there with probability weight / B, so that the accepted games are Binomial(N, P(S > t) / B). Thresholds and
    tilts are fixed before the run by the saddlepoint approximation: an error of it costs counts, never validity. The "in"
    world is tilted likewise, up or down, where its rates are rare. All is in float64: no function of yours runs. A run depends on (game, attack, seed, games) only.

    Args:
        game: a fixed-target game of a mean, with Gaussian noise or sub-sampling or not.
        attack: a linear attack (Bernoulli, Gaussian, exponential, discrete or empirical data), the exact likelihood ratio
            (Bernoulli data, Gaussian data with or without noise), or another additive attack on Bernoulli data.
        games: games in EACH world, shared by the few tilts of the world, >= 100.
        seed: a whole number in [0, 2^64).
        false_positive_rates: about where to place thresholds, in (0, 1/4]; the true rates there differ slightly. For `tpr_interval(f)` request
            a threshold on each side, such as 0.8 f and 1.25 f.
        confidence: of the band and of comparisons, in [0.5, 1).
        chunk: games per call, rounded up to whole blocks; None = as the engine chooses.
        workers: threads; None = 1 per core.

    Raises:
        ValueError: on bad arguments, or where no exact tilted law is known.
        ValueError: where all games of a tilt have the same score; the message names the exact law, which plays none.
        ArithmeticError: if the games contradict the weights, which would be a defect.

    Source: Siegmund (1976); Bucklew (2004); the thinning makes weighted counts binomial.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6] * 50)
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=data.easiest_target())
        >>> curve = play_rare(game, mi.CovarianceScore(data, n=100), games=4000, false_positive_rates=[1e-6])
        >>> low, high = curve.out.bounds(1e-3)
        >>> bool(high[0] < 2 * low[0] < 2e-6)
        True
    """
    total = whole("games", games, 100)
    options = Options.checked(total, seed, chunk=chunk, workers=workers)
    wanted = _levels(false_positive_rates)
    confidence_level(confidence)
    refuse_class("game", game, "a game")
    if not isinstance(game, AbstractMembershipGame):
        raise ValueError(f"game is {type(game).__name__}; it must be a game such as FixedTarget")
    as_attack(attack)  # a class is refused, with what to write
    if not isinstance(attack, AbstractAttack):
        raise ValueError(
            f"attack is {type(attack).__name__}; rare rates need an attack whose tilted law is known, such as mi.CovarianceScore or mi.LikelihoodRatio"
        )
    check_aim(game, attack)
    law = score_law(game, attack)
    planned = plan(law, wanted, total)
    t = planned.thresholds
    none = np.zeros(t.size)
    estimates = {world: _Rates(none.copy(), none.copy(), none + 1.0, none > 0.0) for world in (OUT, IN)}
    tails: dict[int, list[TailEstimate]] = {OUT: [], IN: []}
    for tilt in planned.tilts:
        for world, tail in _played(law, game, attack, tilt, t, options, estimates[tilt.world]):
            tails[world].append(tail)
    for result in tails.values():
        check_agreement(result)
    manifest: dict[str, Any] = {
        "game": describe(game),
        "attack": describe(attack),
        "seed": options.seed,
        "games": total,
        "score": law.name,
        "tilts": [[("out", "in")[r.world], r.theta, r.games, list(r.thresholds)] for r in planned.tilts],
        "edges": array_digest(t),
        "draws": DRAWS,
        "versions": versions(),
    }
    out, inside = (ScaledRates(**vars(estimates[world])) for world in (OUT, IN))
    return RareTradeOff(law.link(t), out, inside, total, confidence, manifest)


@dataclass(frozen=True)
class _Rates:
    """The fields of the `ScaledRates` of a world, filled in tilt by tilt."""

    count: np.ndarray
    games: np.ndarray
    scale: np.ndarray
    complement: np.ndarray


def _played(
    law: AbstractTiltedScore,
    game: AbstractMembershipGame,
    attack: AbstractAttack,
    tilt: Tilt,
    t: np.ndarray,
    options: Options,
    estimates: _Rates,
) -> list[tuple[int, TailEstimate]]:
    """Play a tilt, store its estimates, and return the tail probabilities that it can be held against."""
    mixture = tilt.world == IN and law.plain_inside
    powers, uppers, worlds = [tilt.theta], [tilt.upper], [tilt.world]
    if tilt.upper is False and tilt.theta == 0.0:  # untilted games serve both tails
        powers, uppers, worlds = [0.0, 0.0], [False, True], [tilt.world, tilt.world]
    if tilt.world == IN and law.is_log_ratio and tilt.theta > -1.0:
        # P_out(S > t) = E_in[exp(-S); S > t]: the "in" games are "out" games tilted by 1 more.
        powers, uppers, worlds = [*powers, 1.0 + tilt.theta], [*uppers, True], [*worlds, OUT]
    with exact_scope():
        sampler, requested = (untilted(game, attack), IN) if mixture else law.sampler(tilt.theta, tilt.world)
    standard = tilt.cumulant.mean, math.sqrt(tilt.cumulant.variance)
    edges = law.link(t) if mixture else t
    thinner = Thinner(
        sampler, requested, edges, tuple(powers), tuple(uppers), standard, options.seed, tilt.stream
    )
    workers = options.workers or cores()
    parts = play_range(thinner, 0, tilt.games, thinner.block, options.chunk, workers)
    sums = np.sum([part for _, part in parts], axis=0)
    counts, moments = sums[:-3].reshape(len(powers), t.size), sums[-3:]
    if moments[0]:
        raise ValueError(f"attack {type(attack).__name__} gave NaN for {moments[0]} of {tilt.games} games")
    if tilt.theta != 0.0:  # untilted games have no weights that could be wrong

        def kurtosis() -> float:
            return kurtosis_of(
                lambda theta: law.cumulant(theta, tilt.world).variance, tilt.theta, law.reach(tilt.world)
            )

        check_moments(tilt, *moments_of(moments, tilt.games), kurtosis)
    scale = [np.exp(tilt.cumulant.value - power * t) for power in powers]
    mine = list(tilt.thresholds)
    estimates.count[mine], estimates.games[mine] = counts[0, mine], tilt.games
    estimates.scale[mine] = scale[0][mine]
    estimates.complement[mine] = tilt.world == IN and tilt.upper
    return [
        (world, TailEstimate(f"{tilt.games:,} games tilted by {tilt.theta:.3g}", count, tilt.games, bound))
        for world, upper, count, bound in zip(worlds, uppers, counts, scale, strict=True)
        if upper
    ]


def _levels(rates: object) -> np.ndarray:
    given = [rates] if isinstance(rates, (int, float)) else rates
    levels = finite_vector("false_positive_rates", list(given) if isinstance(given, Sequence) else given)
    if (bad := (levels < 1e-30) | (levels > _MOST_RATE)).any():
        raise ValueError(
            f"false_positive_rates holds {levels[bad][0]:g}; it must lie in [1e-30, {_MOST_RATE:g}]"
        )
    return np.unique(levels)
