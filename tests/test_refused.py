"""What is refused: each call of the tables, in one short sentence that names the argument, the value and what is allowed."""

import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

import mipsim
from mipsim import bands as public_bands
from mipsim import nn as public_nn
from mipsim import referee, theory
from mipsim import tradeoff as public_tradeoff
from mipsim.audits.claims import read_claim
from mipsim.audits.designs import choose_from_clusters
from mipsim.audits.one_run import OneRun
from mipsim.audits.scores import Scores
from mipsim.bands.compare import compare_rates
from mipsim.distributions.binomial_table import binomial_table
from mipsim.distributions.transforms import CoordinateClip
from mipsim.engine.play_many import ManyHistogram, play_many, play_targets
from mipsim.mechanisms.expansion import Expansion, logistic_expansion
from mipsim.mechanisms.release import NoiseLaw
from mipsim.mechanisms.z_estimator import LeastSquares, LogisticRegression
from mipsim.referee import limit_verdict
from mipsim.referee.hunting.search import budget_of
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.decide import judge_gap
from mipsim.referee.judging.gap import Gap, gap_between
from mipsim.referee.judging.limit import judge_limit
from mipsim.referee.kinds import Equality
from mipsim.referee.values import Number
from mipsim.special import noncentral_chi_square
from mipsim.theory import izzo_example
from mipsim.tradeoff.random_allocation import random_allocation
from mipsim.tradeoff.shuffled import shuffled
from sims.studies import STUDIES
from sims.study import Study
from tests.exact.test_by_cdf import Known
from tests.nn import test_loss_attacks as trained
from tests.nn.test_descent import descent
from tests.nn.test_private_training import moved
from tests.referee.test_judge import statement
from tests.referee.test_statement import parts
from verify.azize.laws.enumeration import bernoulli_data_sets, best_deterministic_power
from verify.azize.laws.z_moments import block_piece
from verify.izzo.laws.linear_programs import bracket_injection, largest_dp_eta, largest_posterior_odds
from verify.izzo.laws.subset_enumeration import finite_eta, half, half_subsets
from verify.izzo.laws.subset_laplace import scaled_laplace_eta

# A type checker would refuse most calls before Python does.
mi: Any = mipsim
bands: Any = public_bands
nn: Any = public_nn
tradeoff: Any = public_tradeoff
rf: Any = referee
azize: Any = theory.azize
izzo: Any = theory.izzo
kaissis: Any = theory.kaissis
leemann: Any = theory.leemann
ncx2: Any = noncentral_chi_square

DATA = mi.Bernoulli([0.3, 0.6, 0.4])
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=DATA.easiest_target())
MEDIAN = mi.FixedTarget(lambda key, records: jnp.median(records, axis=0), DATA, n=10, target=GAME.target)
ATTACK = mi.CovarianceScore(DATA, n=10)
WHITE = mi.Gaussian(np.zeros(2), np.ones(2))
PLANE = mi.Gaussian([0.0, 1.0], [1.0, 2.0])
MEAN, P, REFERENCE = mi.EmpiricalMean(), (0.3, 0.6), np.random.default_rng(0).normal(size=(20, 3))
PLAYED = {"game": GAME, "attack": ATTACK, "games": 10, "progress": False}
EDGES, TARGETS, ROWS = np.linspace(-6, 6, 41), np.eye(3), np.arange(12.0).reshape(6, 2)
THRESHOLDED = {
    "thresholds": [0.0, 1.0],
    "false_positives": [5, 2],
    "out_games": 10,
    "false_negatives": [2, 5],
}
THRESHOLDED |= {"in_games": 10, "confidence": 0.99}
PAIR = mi.EmpiricalTradeOff([0.0, 1.0], [5000, 1600], 10_000, [1600, 5000], 10_000)
FREE = mi.EmpiricalTradeOff.from_scores(out_scores=[0.0, 1.0, 2.0], in_scores=[1.0, 2.0, 3.0])
ENDED = mi.EmpiricalTradeOff([0.0], [5], 10, [5], 10, earlier_counts=np.zeros((4, 1)))
COINS = np.random.default_rng(0).random(2000) < 0.5
AUDITED = np.random.default_rng(1).normal(size=2000) + 2.0 * COINS
CLUSTERS = {"cluster": np.arange(2000) // 4}
SHORT = 100 * 2.0 ** np.arange(7)
IMAGE_NET, IMAGES, KINDS = nn.linear((8, 8, 3), 4), np.ones((13, 8, 8, 3), np.float32), np.arange(13) % 4
NAN, HELD = Gap.near(math.nan, math.nan), Claim(Equality(), mi.GaussianTradeOff(1.0))
STUDIED = {
    "name": "x",
    "description": "",
    **{k: vars(next(iter(STUDIES.values())))[k] for k in ("build", "games")},
}


def counted(seed: int = 0, games: int = 500, **changes: Any) -> Any:
    return mi.play(**PLAYED | {"games": games, "seed": seed, "edges": EDGES} | changes)


def stepped() -> Any:
    return mi.FixedTarget(mi.SGDStep(1.0, 1.0), DATA, n=10, target=np.ones(3))


def summed(rows: Any) -> Any:
    return rows.sum(axis=0)


def five_of_ten(size: int) -> Any:
    return bands.CountedRates(np.full(size, 5), 10)


def shifted(key: Any, x: Any) -> Any:
    return x


def relaxed(**options: Any) -> Any:
    return mi.RelaxedThreat(summed, [[0.0], [1.0]], [2.0], mi.Gaussian(0.0, 1.0, d=1), **options)


def nowhere() -> Any:
    return statement(rf.Bound(), lambda mu: 1.0, lambda mu: 1.0, where=lambda mu: mu > 5)


def curve_of(out: Any, inside: Any, confidence: float = 0.999, **how: Any) -> Any:
    return mi.EmpiricalTradeOff.from_scores(out_scores=out, in_scores=inside, confidence=confidence, **how)


@cache
def exact() -> Any:
    data = mi.Gaussian(0.0, 1.0, d=2)
    return mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=np.ones(2)).exact(
        mi.CovarianceScore(data, n=10)
    )


def with_noise() -> Any:
    generator = np.random.default_rng(0)
    noisy = lambda rows: summed(rows) + generator.normal()  # noqa: E731
    return mi.RelaxedThreat(noisy, [[0.0], [1.0]], [2.0], mi.Gaussian(0.0, 1.0, d=1))


CALLS: list[tuple[Callable[[], object], str]] = [
    (with_noise, "query gives two answers for the same records; it must be deterministic"),
    (lambda: PAIR.compare(PAIR, independent=True), "independent is True, but both curves are of the same games; it must be False then"),
    (lambda: PAIR.compare(mi.GaussianTradeOff(1.0)).verdict_for("same"), "kind is 'same'; allowed: equality, equivalence"),
    (lambda: mi.play(**PLAYED, precision="float16"), "precision is 'float16'; allowed: float32, float64"),
    (lambda: rf.judge(nowhere(), budget=0), "where of s excludes all of 20,000 points of its domain"),
    (lambda: rf.hunt(nowhere(), "20s", progress=False), "where of s excludes all of 20,000 points of its domain"),
    (lambda: mi.audit(COINS, AUDITED, design="independent"), r"member holds .* at index 0; it must hold 1/0, .*; scores come first"),
    (lambda: mi.audit(AUDITED, design="independent"), "member is NoneType"),
    (lambda: mi.audit("scores.csv", COINS, design="independent"), "beside a file of scores"),
    (lambda: mi.audit(AUDITED, COINS, design="one-run", claim="x" * 5000 + ".csv"), r"^claim: x+ \.\.\. x+\.csv cannot be read: File name too long$"),
    (lambda: mi.GLiRPValue(WHITE, 10, np.ones((3, 2))), "axes has columns that are not orthonormal"),
    (lambda: mi.GLiRPValue(WHITE, 10, np.eye(3)), "axes has 3 columns; their number must divide the 2"),
    (lambda: mi.GLiRPValue(mi.Gaussian(np.zeros(6), np.ones(6)), 10, axes=[[1.0], [0.0]]).score(np.ones(2), np.ones(2)), r"target has shape \(1,\) along axes; it must have \(6,\), as data has"),
    *((lambda seed=seed: mi.ShrunkMoments(np.random.default_rng(seed).normal(size=(2, 5))), r"varies along 1 of them only: its covariance is singular; give ridge > 0$") for seed in range(8)),
    # Labels and scores in the order of other libraries gave mu >= 2.34 for 1.65: all labels below all scores of members.
    *((lambda given=given: mi.EmpiricalTradeOff.from_scores(*(COINS, AUDITED)[:given]), r"by name; .*from_scores\(out_scores=s\[y == 0\], in_scores=s\[y == 1\]\)") for given in (2, 1, 0)),
    *((lambda n=n: mi.FixedTarget(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0), n, [3.0]).exact(mi.ScalarProduct([0.0])), "it must be at most 9007199254740992") for n in (2**53 + 1, 2**63 - 1)),
    *((lambda n=n: mi.RandomTarget(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0), n).exact(mi.ScalarProduct([0.0])), "it must be at most 9007199254740992") for n in (2**53 + 1, 2**63 - 1)),
    *((lambda bad=bad: budget_of(bad), f"budget is {bad!r}; it must be seconds > 0") for bad in (0, -1, "0s", "soon", "", "2 weeks", None, True, math.inf, "1..2s", "0 probes")),
    *((lambda bad=bad: mi.play(**PLAYED, executor=bad), f"executor is {bad!r}; it must have a method submit") for bad in (3, "dask", ThreadPoolExecutor)),
    (lambda: play_many(GAME, ATTACK, 10), "attacks is CovarianceScore; it must be a sequence"),
    (lambda: play_many(GAME, {}, 10), "at least 1 attack, or a dict from names to attacks"),
    (lambda: play_many(GAME, {1: ATTACK}, 10), "attacks has the name 1; a name must be a string"),  # pyright: ignore[reportArgumentType]
    (lambda: play_many(GAME, [ATTACK], 10, edges=[1.0, 0.0]), "edges falls or stays at index 1"),
    (lambda: play_many(GAME, [ATTACK], 10, fidelity="exact"), "fidelity is 'exact'; allowed: "),
    (lambda: play_many(stepped(), [ATTACK], 10, fidelity="sufficient"), "fidelity is 'sufficient', but FixedTarget with SGDStep and StackedAttacks has no such sampler"),
    (lambda: play_targets(mi.FixedTarget(mi.EmpiricalMean(), mi.Empirical([[0.0], [1.0], [3.0]]), 4, [1.0]), mi.ScalarProduct([0.0]), [[1.0]], 10, fidelity="sufficient"), "fidelity is 'sufficient', but sums of Empirical data have no exact law"),
    (lambda: play_many(GAME, [ATTACK, lambda t, o: jnp.sum(o) * jnp.nan], 10, progress=False), "gave NaN for .* games"),
    (lambda: play_targets(GAME, ATTACK, TARGETS[0], 10), r"targets has shape \(3,\); it must be a matrix"),
    (lambda: play_targets(GAME, ATTACK, TARGETS[:, :2], 10), "targets has 2 columns; it must have 3"),
    (lambda: play_targets(stepped(), ATTACK, TARGETS, 10), "mechanism is SGDStep; many targets share"),
    (lambda: ManyHistogram(()), "histograms is empty"),
    (lambda: ManyHistogram(tuple(mi.Histogram(np.zeros(1), np.array([g, 0]), np.array([0, g])) for g in (1, 2))), r"histograms hold \[1, 2\] games"),
    (lambda: mi.RelaxedThreat(summed, [[0.0], [1.0]], [2.0, 1.0], mi.Gaussian(0.0, 1.0, d=1)), "record"),
    (lambda: mi.RelaxedThreat(summed, [[0.0], [1.0]], [2.0], mi.Gaussian(0.0, 1.0, d=2)), "query"),
    (lambda: mi.RelaxedThreat(summed, [1.0, 2.0], [2.0], mi.Gaussian(0.0, 1.0, d=1)), r"records has shape \(2,\)"),
    (lambda: mi.RelaxedThreat(summed, np.ones((3, 1)), [2.0], mi.Gaussian(0.0, 1.0, d=1)), "records has the constant"),
    (lambda: mi.play(mi.TwoInputs(shifted, [0.0], [1.0]), lambda target, output: output[0], games=10, fidelity="projected", progress=False), "fidelity is 'projected', but TwoInputs with "),
    (lambda: mi.TwoInputs(shifted, [0.0], [1.0]).exact(mi.FunctionAttack(lambda target, output: output[0])), r"no known exact distribution in TwoInputs.*gives a band instead$"),
    (lambda: mi.Subset(mi.EmpiricalMean(), ROWS[:5], 0), "records has 5 rows; their number must be even"),
    (lambda: mi.Subset(mi.EmpiricalMean(), ROWS, 6), "target is 6; it must be the index of a record"),
    (lambda: mi.Subset(mi.Subsampled(mi.EmpiricalMean(), 0.5), ROWS, 0), "sampling_rate n = 0.5 x 3"),
    (lambda: mi.play(mi.Subset(mi.EmpiricalMean(), ROWS, 0), mi.ScalarProduct(np.zeros(2)), 10, fidelity="sufficient", progress=False), "fidelity is 'sufficient', but Subset with EmpiricalMean and ScalarProduct has no such sampler"),
    (lambda: mi.Subset(mi.EmpiricalMean(), [[1.0], [2.0], [4.0], [8.0]], target=3).exact(mi.ScalarProduct([0.0])), "has no known exact distribution in Subset with EmpiricalMean"),
    (lambda: mi.NormNoise(mi.EmpiricalMean(), 1.0, coordinate_scale=[1.0, 0.0]), "coordinate_scale is"),
    (lambda: mi.NormNoise(mi.EmpiricalMean(), 1.0, radius="cauchy"), "radius is 'cauchy'"),
    (lambda: mi.Subset(mi.NormNoise(mi.EmpiricalMean(), 1.0, coordinate_scale=[1.0, 2.0]), [[0.0], [1.0]], 0), r"coordinate_scale has shape \(2,\)"),
    (lambda: LogisticRegression(steps=0), "steps"),
    (lambda: mi.FixedTarget(LeastSquares(), mi.Gaussian([0.0], [1.0]), 5, [0.0]), "records have dimension 1"),
    (lambda: logistic_expansion([[-1.0, 0.0], [1.0, 1.0], [2.0, 1.0], [-2.0, 0.0]]), "separable"),
    (lambda: Expansion([0.0], [[0.0]], [[1.0]], lambda record: record), "derivative is singular"),
    (lambda: mi.DiscreteGaussianNoise(mi.EmpiricalMean(), deviation=0.001, step=1.0), r"^deviation is 0.001; it must be a finite number in \[0.03, 10000\]$"),
    (lambda: mi.DiscreteGaussianNoise(mi.EmpiricalMean(), deviation=1.0, step=0.0), r"^step is 0.0; "),
    (lambda: NoiseLaw(mi.Uniform(-1.0, 1.0, d=2), 1.0), r"^law is a Uniform of dimension 2; the law of a noise has dimension 1$"),
    (lambda: NoiseLaw(mi.Uniform(-1.0, 1.0), -1.0), r"^scale is -1; noise must be >= 0$"),
    (lambda: descent(sampling="cyclic"), "sampling is 'cyclic'"),
    (lambda: descent(noise_multiplier=1.0), "noise_multiplier is 1 with clip = inf"),
    (lambda: descent(part="first"), "part is 'first'"),
    (lambda: descent(releases="loss"), "releases is 'loss'"),
    (lambda: descent().records([0, 1797]), "rows holds 1797; records of Descent are row numbers of its data set, 0 to 1796"),
    (lambda: mi.FixedTarget(descent(), descent().records(), 8, [1797]), "target holds 1797"),
    (lambda: mi.FixedTarget(descent(), descent().records(), 8, [2.5]), "target holds 2.5"),
    (lambda: mi.FixedTarget(descent(), mi.Empirical([[0.0], [2000.0]]), 8, [1]), "data holds 2000"),
    (lambda: mi.FixedTarget(mi.Subsampled(descent(), 0.5), descent().records(), 8, [1797]), "target holds 1797"),
    (lambda: mi.FixedTarget(descent(), descent().records(), 3, [1]), "n is 3; it must be at least the batch of 4 records"),
    (lambda: mi.FixedTarget(descent(), mi.Gaussian(0.0, 1.0), 8, [1]), "data is Gaussian; records of Descent are row numbers"),
    (lambda: mi.RandomTarget(descent(), mi.Gaussian(0.0, 1.0, d=2), 8), "data has 2 coordinates; records of Descent are row numbers"),
    (lambda: nn.SummedOverSteps(descent(releases="parameters"), mi.ScalarProduct(np.zeros(650))), "descent releases 'parameters'"),
    (lambda: nn.LiRA(nn.Descent(trained.NETWORK, trained.START, trained.DIGITS.x, trained.LABELS, batch=2, steps=1, rate=1.0), np.zeros((2, 650))), "descent releases 'steps'"),
    (lambda: nn.LiRA(trained.DESCENT, np.zeros((2, 649))), "outside has 649 columns; it must have 650"),
    (lambda: nn.LiRA(trained.DESCENT, np.zeros((1, 650))), "outside has 1 model; a law is fitted to at least 2"),
    (lambda: nn.LiRA(trained.DESCENT, np.zeros((2, 650)), np.full((2, 650), np.nan)), "inside holds nan"),
    (lambda: nn.RMIA(trained.DESCENT, [1797], np.zeros((2, 650))), "population holds 1797"),
    (lambda: nn.RMIA(trained.DESCENT, [1], np.zeros((2, 650)), gamma=0.5), "gamma is 0.5"),
    (lambda: nn.shadow_models(mi.RandomTarget(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0), 4), 3), "descent is EmpiricalMean"),
    (lambda: nn.shadow_models(trained.game(5), 1), "count is 1; it must be a whole number from 2"),
    (lambda: nn.shadow_models(mi.RandomTarget(trained.DESCENT, trained.DESCENT.records(), 48), 3, member=True), "member is True; models with the target"),
    (lambda: mi.trained_attack(mi.TwoInputs(lambda key, x: x / 0.0, [0.0], [1.0]), 100), "outputs that are not finite"),
    (lambda: mi.audit([0.0], [1], design="independant"), r"design is 'independant'; .*; did you mean independent\?"),
    (lambda: curve_of([2.0, 2.0], [2.0]), "out_scores and in_scores all equal 2; a constant score has no threshold"),
    (lambda: mi.GaussianTradeOff(1.0).compare(PAIR), r"is EmpiricalTradeOff; it must be a trade-off function known by a formula or an exact law.*: played\.compare\(other\)$"),
    *((ask, "is EmpiricalTradeOff; it must be a trade-off function known by a formula or an exact law") for ask in (
        lambda: PAIR.gap_lower_bound(PAIR), lambda: tradeoff.MixtureTradeOff(PAIR, 0.5))),
    (lambda: mi.compose(PAIR), "it must be a trade-off function known by a formula"),
    *((lambda pair=pair: bands.compare_curves(*pair), "thresholds were chosen after the scores") for pair in ((FREE, PAIR), (PAIR, FREE))),
    *((lambda pair=pair: bands.compare_curves(*pair), "ended by what they showed") for pair in ((ENDED, PAIR), (PAIR, ENDED))),
    (lambda: FREE.compare(mi.GaussianTradeOff(1.0)), "thresholds were chosen after the scores"),
    (lambda: PAIR.compare(PAIR, kind="equivalence"), r"kind is 'equivalence'; allowed: ordering, upper_bound_on_power, equality"),
    (lambda: bands.compare_curves(PAIR, PAIR).verdict_for("equality"), "kind is 'equality', but this comparison is of 'ordering'"),
    *((lambda two=two: curve_of(*two), "holds 0 and 1 alone, as labels do") for two in ((COINS, AUDITED), (AUDITED, COINS.astype(int)))),
    # A class in the place of its instance.
    *((call, f"{words}.*: call the class$") for words, call in (
        ("mechanism is the class EmpiricalMean; it must be a mechanism", lambda: mi.FixedTarget(mi.EmpiricalMean, DATA, n=10, target=np.zeros(3))),
        ("attack is the class CovarianceScore", lambda: mi.play(GAME, mi.CovarianceScore, games=1000)),
        ("claim is the class GaussianTradeOff", lambda: PAIR.compare(mi.GaussianTradeOff)),
        ("claim is the class Gaussian.*, or text", lambda: mi.audit([0.0], [1], design="one-run", claim=mi.GaussianTradeOff)),
        ("game is the class FixedTarget; it must be a game", lambda: mi.play(mi.FixedTarget, ATTACK, games=1)),
        ("data is the class Gaussian", lambda: mi.FixedTarget(mi.EmpiricalMean(), mi.Gaussian, n=9, target=[0])),
        ("moments is the class Gaussian", lambda: mi.CovarianceScore(mi.Gaussian, n=9)),
        ("an entry of curves is the class Gaussian", lambda: mi.compose(mi.GaussianTradeOff)),
    )),
    (lambda: exact().compare(counted()), r"claim is Histogram.*counts.tradeoff\(\)"),
    (lambda: ENDED.compare(PAIR), "numbers of games fixed beforehand"),
    (lambda: mi.EmpiricalTradeOff([0.0], [5], 10, [5], 10, earlier_counts=np.zeros((2, 2))), r"earlier_counts has shape \(2, 2\); it must have shape \(4, 1\)"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), mi.Exponential(1.0), n=2, target=[1.0]).exact(mi.ScalarProduct([0.0])), "n d = 2 terms are too few"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), fair := mi.Bernoulli(0.5, d=40_000), n=10**4, target=np.ones(40_000)).exact(mi.LikelihoodRatio(mi.EmpiricalMean(), fair, 10**4)), "tables of 40,000 coordinates with 1,0"),
    (lambda: mi.account(), "noise_multiplier and phases are both missing"),
    (lambda: mi.account(phases=[]), "phases is empty; it must hold (noise multiplier, sampling rate, steps) of each phase"),
    (lambda: mi.account(phases=[(1.0, 0.1)]), "phases holds (1.0, 0.1); it must hold"),
    (lambda: mi.account(phases=1.0), "phases is 1.0; it must hold"),
    (lambda: mi.account(phases=[{2.0, 0.5, 1}]), "phases holds .*; it must hold"),
    (lambda: mi.account(phases=[(1.0, 0.1, 5)], steps=5), "steps is 5 beside phases; each has its own"),
    (lambda: mi.account(phases=[(1.0, 2.0, 5)]), "sampling_rate is 2.0"),
    (lambda: mi.account(1.0, 0.1, 2**63), "steps is 9223372036854775808; it must be a whole number from 1 to 1,000,000,000"),
    (lambda: mi.account(1.0, 5e-324, 10), "sampling_rate is 4.94066e-324; it must be 0 or in [1e-100, 1]"),
    (lambda: mi.account(1e-9, 0.5), "noise_multiplier is 1e-09"),
    (lambda: mi.account(1e300, 0.5), "noise_multiplier is 1e.300"),
    (lambda: mi.account(1.0, sampling="poison"), "sampling is 'poison'; allowed: poisson"),
    (lambda: mi.account(1.0).compare("poisson"), "accounted is str"),
    (lambda: tradeoff.calibrate(lambda s: s, mu=1.0), r"curve_of_noise gives float at the noise 1; it must give a trade-off"),
    (lambda: mi.find_noise_multiplier_for_mu(1.0, noise="cauchy"), "noise is 'cauchy'; allowed: gaussian, laplace"),
    (lambda: mi.find_noise_multiplier_for_mu(1.0, sampling_rate=0.0), "sampling_rate is 0; a record that never takes part"),
    (lambda: mi.find_noise_multiplier_for_epsilon_delta(1.0, 1e-5, sampling_rate=0.5, neighbours="replace", noise="laplace"), "noise is 'laplace'; with samples of which a record is replaced"),
    (lambda: mi.dpsgd(1.0, 0.5, group=2, sampling="fixed_size"), "group is 2 with sampling 'fixed_size'; groups are proven for 'poisson'"),
    (lambda: mi.dpsgd(1.0, 0.5, group=1000), "group is 1000; that all or none of them take part"),
    (lambda: mi.dpsgd(1.0, sampling="fixed_size"), "sampling_rate is 1 with sampling 'fixed_size' and neighbours 'add_or_remove'; it must be below 1"),
    (lambda: mi.GaussianMixtureTradeOff([1.0, 2.0], [1.0]), "probabilities has 1 entries; it must have an entry for each of sensitivities, 2"),
    (lambda: mi.find_noise_multiplier_for_epsilon_delta(1.0, 1e-5, neighbours="replace", sampling="random_allocation"), "neighbours is 'replace' with sampling 'random_allocation'; proven are"),
    (lambda: mi.compose(), "curves is empty"),
    (lambda: random_allocation(0.01, 5), "noise_multiplier is 0.01; it must be a finite number in"),
    (lambda: random_allocation(1.0, 0), "steps is 0; it must"),
    (lambda: mi.fixed_samples(1.0, 5, 9, neighbours="replace"), "proven are remove, add, add_or_remove, and a single record"),
    (lambda: mi.fixed_samples(1.0, 5, 6, group=2), "data_size is 6; samples of 5 without the group of 2 need at least 7 records"),
    (lambda: mi.fixed_samples(1.0, 0, 9), "sample_size is 0; it must"),
    (lambda: mi.truncated_poisson(1.0, 0.1, 5, 9, neighbours="replace"), "neighbours is 'replace'"),
    (lambda: mi.truncated_poisson(1.0, 1.0, 5, 9), "sampling_rate is 1.0; it must be a finite number in"),
    (lambda: mi.discrete_gaussian(1.0, 11), "sensitivity is 11; it must be a whole number from 1 to 10"),
    (lambda: mi.discrete_gaussian(0.0), "scale is 0.0; it must"),
    (lambda: mi.skellam(0.0), "variance is 0.0; it must"),
    (lambda: mi.discrete_laplace(1.0, 0), "sensitivity is 0; it must"),
    (lambda: mi.exponential_mechanism(-1.0), "epsilon is -1.0; it must"),
    (lambda: mi.permute_and_flip(1.0, 0), "runs is 0; it must"),
    (lambda: random_allocation(1.0, 3, 4), "selected is 4; it must be a whole number from 1 to 3"),
    (lambda: random_allocation(1.0, 3, 2, 0), "epochs is 0; it must"),
    (lambda: shuffled(1.0, 5, 0), "epochs is 0"),
    (lambda: mi.dpsgd(1.0, 0.0, 5, sampling="shuffled"), "sampling_rate is 0; with sampling 'shuffled'"),
    (lambda: mi.dpsgd(1.0, 0.3, 5, sampling="random_allocation"), "it must be 1 / T for epochs of T"),
    (lambda: mi.dpsgd(1.0, 0.1, 5, sampling="random_allocation"), "steps is 5; .* a multiple of 10"),
    (lambda: mi.find_noise_multiplier_for_mu(1.0, sampling="shuffled"), "noise is computed for poisson"),
    (lambda: tradeoff.convex_hull(), "curves is empty"),
    (lambda: mi.plot(mi.GaussianTradeOff(1.0), log=True, scale="log"), "log is True and scale is 'log'; give either"),
    (lambda: mi.plot(mi.GaussianTradeOff(1.0), scale="loglog"), "scale is 'loglog'; allowed: linear, log, probit"),
    (lambda: azize.leakage_score(mi.Bernoulli([0.5]), [1.0, 2.0], 10), "target has shape"),
    (lambda: azize.effective_mu([0.0], mi.Bernoulli([0.5]), [1.0], 10), "weights is zero everywhere"),
    (lambda: izzo.epsilon_from_eta(0.5), "eta is 0.5"),
    (lambda: izzo_example.special_sum(4, "maybe"), "reading is 'maybe'"),
    (lambda: kaissis.limit_beta(0.5, 0.5, 1.0), "d is"),
    (lambda: kaissis.FoldedGaussianTradeOff(-1.0), "mu is"),
    (lambda: kaissis.symmetrised(tradeoff.PiecewiseLinearTradeOff([0.0, 0.31234567, 1.0], [1.0, 0.2, 0.0])), r"use j\.symmetrized"),
    (lambda: leemann.step_mu(0.5, 10, 1.0), "d is 0.5"),
    (lambda: leemann.step_for_long_run_mu(0.0, 1.0), "mu is 0"),
    (lambda: leemann.step_for_long_run_mu(1e200, 1.0), "equation 10 gives at most"),
    (lambda: leemann.noise_for_step_mu(0.0, 5, 10, 1.0, 1.0), "mu is 0"),
    (lambda: ncx2.cdf(1.0, 0.5, 1.0), r"d is 0\.5; it must lie in \[1, 1e\+06\]"),
    (lambda: ncx2.cdf(np.ones(2), np.ones(3), 2.0), r"they must broadcast together"),
    (lambda: ncx2.logppf(0.0, 3, 2.0), r"log_q is 0; the log of a level must be negative"),
    (lambda: ncx2.logisf(-np.inf, 3, 2.0), r"log_q holds -inf"),
    (lambda: rf.Real(2.0, 1.0), "low is 2.0 and high is 1.0; low must be below high"),
    (lambda: rf.Real(0.0, math.inf), "hunt_to is missing; it must say how far a search goes"),
    (lambda: rf.Real(0.0, 1.0, hunt_to=0.5), "hunt_to is 0.5, but neither end is open"),
    (lambda: rf.Real(5.0, math.inf, hunt_to=2.0), "hunt_to is 2.0, which leaves"),
    (lambda: rf.Real(0.0, 1.0, log=True), "log is True with low = 0; a logarithmic range must begin above 0"),
    (lambda: rf.Whole(0.5, 2), "low is 0.5; it must be a whole number"),
    (lambda: rf.Choice(), "Choice has 0 values; give two or more, or use rf.Fixed(value)"),
    (lambda: rf.Choice("a", "a"), "they must be distinct"),
    (lambda: gap_between(HELD, lambda a: a * np.nan), r"is undefined \(NaN\) at FPR"),
    (lambda: gap_between(HELD, lambda a: np.array(0.5)), "must return an FNR for each alpha"),
    (lambda: gap_between(HELD, Number(1.0)), "truth returned a number and claimed a curve; both must be of the same sort"),
    (lambda: Claim(Equality(), Number(0.0)).tolerance, "claimed is 0; it must be finite and not 0, or an absolute"),
    (lambda: Claim(Equality(), mi.GaussianTradeOff(0.0)).tolerance, "tolerance"),
    (lambda: judge_gap(HELD, NAN, {}), "gap is NaN"),
    (lambda: judge_gap(Claim(rf.Bound(), mi.GaussianTradeOff(1.0)), NAN, {}), "gap is NaN"),
    (lambda: Gap.near(0.0, 0.0, -1.0), "error is -1; it must be >= 0"),
    (lambda: judge_limit(rf.Limit("n"), lambda n: (Claim(rf.Limit("n"), Number(1.0)), Number(1.0), True), {}, (100,), ""), "sizes has 1 entries; a limit is judged by at least 6"),
    (lambda: rf.Bound(floor=0.7), "floor is 0.7"),
    (lambda: rf.Limit("n", sizes=(1, 2, 4)), "sizes has 3 entries; it must have at least 6"),
    (lambda: rf.Limit("n", sizes=(10, 20, 30, 60, 120, 240)), "each must be at least twice the previous"),
    (lambda: rf.Control({}, shift=0.5), "shift is 0.5"),
    (lambda: bernoulli_data_sets(np.full(4, 0.5), 10), "n d = 40"),
    (lambda: best_deterministic_power(np.full(30, 1 / 30), np.full(30, 1 / 30), np.array([0.1])), "30 outputs"),
    (lambda: half(5), "n is 5; it must be even"),
    (lambda: half_subsets(0), "n is 0"),
    (lambda: half_subsets(24), "n is 24; its 2704156 subsets"),
    (lambda: finite_eta([[0.5, 0.5]], 2), "law has 1 rows"),
    (lambda: finite_eta([[0.5, 0.4], [0.5, 0.5]], 2), "law holds a row"),
    (lambda: largest_dp_eta(3, 1.0, 0.0), "n is 3"),
    (lambda: largest_posterior_odds(3, 3, 1.0), "k is 3"),
    (lambda: bracket_injection(6, 2), "k is 2"),
    (lambda: scaled_laplace_eta([1.0, 0.0], [-1.0, 1.0], 2), "scales is -1"),
    (lambda: block_piece(3, 1.0, 1.0).worlds(9), "n is 9; it must be at least 10"),
    (lambda: mi.audit({"score": 0.5, "member": 1}, design="one-run"), "scores: column 'score' has shape (); it must be a vector"),
    (lambda: choose_from_clusters(Scores.of(np.arange(300.0), np.tile([0, 1], 150), np.repeat(np.arange(10), 30))), "cluster names 10 clusters; an audit needs 100 at least"),
    (lambda: PAIR.compare(mi.GaussianTradeOff(1.0)).games_to_confirm(0.0), "tolerance is"),
    (lambda: nn.per_example_gradients(IMAGE_NET, IMAGE_NET.start(0), IMAGES, KINDS, part="first"), "part is 'first'; allowed: trained, last"),
    (lambda: nn.convolutional((12, 8, 3)), "divisible by 8"),
    (lambda: nn.residual(widths=(8, 16)), r"widths is \(8, 16\); it must have four numbers"),
    *((lambda r=r: bands.duembgen_wellner([1], 10, r), "failure_probability is") for r in (0.0, 1e-10, 1.0)),
    (lambda: mi.dpsgd(1.0, 0.1, 10, neighbours="replace", sampling="random_allocation"), "neighbours is 'replace' with sampling 'random_allocation'; proven are"),
    (lambda: mi.account(1.0, 0.1, normalise="floor"), "normalise is 'floor', and a record added or removed may change the divisor; give data_size"),
    (lambda: mi.account(1.0, 0.1, normalise="floor", data_size=100, dimension=1000), "neighbours divide by 9 or 10: no number holds in every dimension; in d = 1000 .* TPR 0.717 at FPR 1e-05"),
    (lambda: mi.account(1.0, 3 / 47, normalise="floor", data_size=47, neighbours="add"), "neighbours divide by 2 or 3: no number holds"),
    (lambda: mi.account(1.0, 0.1, normalise="floor", data_size=5), r"floor\(0.1 x 5\) or that of a record less is 0"),
    (lambda: mi.account(1.0, 0.1, normalise="realised"), "normalise is 'realised', and the size of the batch .* give data_size for a bound that holds in every dimension"),
    (lambda: mi.account(1.0, 0.1, 10, sampling="random_allocation", normalise="realised", data_size=9), "'realised' with sampling 'random_allocation'; proven is 'poisson'"),
    (lambda: mi.account({"sigma": 1.0, "q": 0.1, "steps": 5, "sampler": "poisson", "n": 90}, normalise="floor", data_size=80), "data_size and n are the same and differ; give the data_size alone"),
    (lambda: mi.account({}, steps=1), "steps is 1 beside a configuration as noise_multiplier, which says it"),
    (lambda: mi.account({"sampler": "shuffle"}, sampling="poisson"), "sampling and sampler are the same and differ; give the sampling alone"),
    (lambda: mi.account(1.0, 0.1, data_size=100), "data_size is 100, which counts for nothing with normalise 'expected'"),
    (lambda: mi.account(1.0, 0.1, normalise="realised", data_size=100, dimension=9), "dimension is 9, which counts for nothing with normalise 'realised'"),
    (lambda: mi.account(1.0, 0.1, sampling="fixed_size", normalise="realised", data_size=90), "data_size is 90, which counts for nothing with normalise 'realised', sampling 'fixed_size'"),
    (lambda: mi.account(1.0, 0.1, neighbours="replace", normalise="floor", data_size=90), "data_size is 90, which counts for nothing with normalise 'floor', sampling 'poisson' and neighbours 'replace'"),
    (lambda: mi.account(phases=[(1.0, 0.1, 5)], sampling_rate=1.0), "sampling_rate is 1.0 beside phases; each has its own"),
    (lambda: mi.account(1.0, 0.1, claim=8.0), r"claim is 8.0; it must be \(epsilon, delta\)"),
    (lambda: mi.account(1.0, 0.1, normalise="realised", data_size=9, neighbours="replace"), "'realised' with neighbours 'replace'; proven are remove"),
    (lambda: mi.PrivacyFilter(), "mu and rho are both missing; give exactly 1 of them"),
    (lambda: mi.PrivacyFilter(mu=1.0, rho=1.0), "mu and rho are both given"),
    (lambda: mi.PrivacyFilter(mu=0.0), "mu is 0.0"),
    (lambda: mi.PrivacyFilter(mu=1e-200), "mu is 1e-200"),
    (lambda: mi.PrivacyFilter(rho=1.0).step(1.0), "curve is float; it must be a trade-off function"),
    (lambda: mi.best_of_runs(mi.GaussianTradeOff(1.0), runs=9.0, shape=-0.999999), "shape is -0.999999 with runs 9; so many need a larger shape"),
    (lambda: mi.GaussianTradeOff(1.0).to_rdp([2.0, 1.0]), "orders holds 1; each must be above 1"),
    (lambda: mi.Accountant().step(noise_multiplier=0.0, sample_rate=0.1), "noise_multiplier is 0.0; it must be a finite number"),
    (lambda: mi.Accountant().get_epsilon(2.0), r"delta is 2.0; it must be a finite number in \[0, 1\]"),
    (lambda: mi.Accountant().get_optimizer_hook_fn(-0.1), "sample_rate is -0.1"),
    (lambda: mi.Accountant().load_state_dict({"mechanism": "mipsim", "history": [(1.0, 0.1)]}), "state_dict holds the history"),
    (lambda: mi.Accountant().load_state_dict([]), "state_dict is list; it must be what state_dict"),
    (lambda: mi.account(type("ZCDpEvent", (), {})()), "noise_multiplier is the event ZCDpEvent; proven are "),
    (lambda: mi.account(type("GaussianDpEvent", (), {})()), "noise_multiplier is the event GaussianDpEvent, which has no attribute 'noise_multiplier'"),
    (lambda: mi.account(type("GaussianDpEvent", (), {"noise_multiplier": -1.0})()), "noise_multiplier of the event is -1"),
    (lambda: mi.play(mi.FixedTarget(mi.EmpiricalMean(), DATA, n=4, target=[0.5, 1.0, 0.0]), mi.LikelihoodRatio(mi.EmpiricalMean(), DATA, n=4), 10, progress=False), "LikelihoodRatio contributes nan at coordinate 0"),
    *((lambda r=r: mi.GaussianTradeOff(1.0).subsampled(r), "sampling_rate is") for r in (-0.1, 1.1)),
    (lambda: compare_rates(five_of_ten(1), five_of_ten(2), mi.GaussianTradeOff(1.0)), "inside has 2 rates; it must have 1, like out"),
    (lambda: compare_rates(five_of_ten(1), five_of_ten(1), 1.0), "claim is float; it must be a trade-off function"),  # pyright: ignore[reportArgumentType]
    (lambda: compare_rates(five_of_ten(1), five_of_ten(1), mi.GaussianTradeOff(1.0), tolerance=0), "tolerance is 0"),
    (lambda: mi.Bernoulli([0.5, 0.0]), "p is 0 at coordinate 1, a constant coordinate with zero variance"),
    (lambda: mi.Bernoulli([[0.5]]), r"p has shape \(1, 1\); it must be a vector"),
    (lambda: mi.Bernoulli([0.5, 0.5], d=3), r"p has shape \(2,\); it must have shape \(3,\)"),
    (lambda: mi.Bernoulli(0.5, d=0), "d is 0; it must be a whole number from 1"),
    (lambda: mi.Gaussian([0.0, 0.0], [1.0, 1.0, 1.0]), r"cov has shape \(3,\); it must have shape \(2,\)"),
    (lambda: mi.Gaussian(0.0, [[1.0, 2.0], [2.0, 1.0]]), "cov has the eigenvalue -1; it must be positive semi"),
    (lambda: mi.Gaussian(0.0, [[1.0, 0.5], [0.4, 1.0]]), "cov is not symmetric"),
    (lambda: mi.Gaussian(0.0, [[1.0, 0.0], [0.0, 0.0]]), "cov's diagonal is 0 at coordinate 1; it must be > 0"),
    (lambda: mi.Gaussian([0.0, 0.0, 0.0], np.eye(2)), r"mean has shape \(3,\); it must have shape \(2,\)"),
    (lambda: mi.StudentT([3.0, 2.0]), "df is 2 at coordinate 1; it must be > 2 for a finite variance"),
    (lambda: mi.Uniform([0.0, 1.0], 1.0), "high is 1 at coordinate 1; it must exceed low = 1"),
    (lambda: mi.Discrete([0.0, 0.0, 1.0], [0.2, 0.3, 0.5]), "values holds 2 distinct numbers of 3"),
    (lambda: mi.Discrete([0.0, 1.0], [0.2, 0.3, 0.5]), r"probabilities has shape \(3,\); it must have shape"),
    (lambda: mi.Discrete([0.0, 1.0], [0.2, 0.7]), "probabilities sum to 0.9; each row must sum to 1"),
    (lambda: mi.Discrete([0.0, 1.0], [0.0, 1.0]), "constant coordinate with zero variance"),
    (lambda: mi.Empirical([[0.0, 1.0], [1.0, 1.0]]), "records has the constant column 1, of zero variance"),
    (lambda: mi.EmpiricalMean().exact_draw()(jax.random.key(0), mi.StudentT(5.0), 4, jnp.ones(1), True), "StudentT data have no exact law of a sum"),
    *((lambda of=of: of(pandas.DataFrame({"age": [20.0, 30.0], "name": ["Ann", "Bob"]})), "has the column 'name', which holds other things than numbers") for of in (mi.Empirical, mi.EstimatedMoments)),
    (lambda: mi.Empirical([[0.0, 1.0]]), "records has 1 row; it must have at least 2"),
    (lambda: mi.Empirical([0.0, 1.0]), r"records has shape \(2,\); it must be a matrix"),
    (lambda: mi.Empirical([[0.0], [1.0]], "banded"), "covariance is 'banded'; allowed: full, diagonal"),
    (lambda: mi.Empirical([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).easiest_target(), "covariance is not positive definite; add regularisation or use its diagonal"),
    (lambda: mi.Bernoulli(0.5).mahalanobis_squared([1.0, 0.0]), r"point has shape \(2,\)"),
    (lambda: mi.SGDStep(np.inf, 1.0), "noise_multiplier is 1 with clip = inf; .* must be 0 there"),
    (lambda: mi.SGDStep(1.0, 1.0).rows(1), "n is 1; it must be a whole number >= 2"),
    (lambda: mi.GaussianNoise(MEAN, np.eye(2)), r"record_deviation has shape \(2, 2\); it must be a number or a vector"),
    (lambda: mi.GaussianNoise(MEAN, [1.0, 1.0, 1.0]).release(jax.random.key(0), ROWS[:4]), r"record_deviation has shape \(3,\); it must be a number or"),
    (lambda: mi.Subsampled(MEAN, 0.25).rows(10), "sampling_rate n = 0.25 x 10 = 2.5; sampling_rate n must be a whole number"),
    (lambda: mi.Subsampled(MEAN, 0.1).rows(10), "sampling_rate n = 0.1 x 10 = 1; at least 2 rows must be sampled"),
    (lambda: mi.PoissonSubsampled(mi.GaussianNoise(MEAN, 1.0), 0.5), "base is GaussianNoise; PoissonSubsampled takes"),
    (lambda: mi.LikelihoodRatio(mi.LaplaceNoise(MEAN, 1.0), mi.Bernoulli(P), 4), r"LaplaceNoise\(EmpiricalMean\) on Bernoulli data is intractable; it is for EmpiricalMean of"),
    (lambda: mi.LikelihoodRatio(MEAN, mi.Uniform(0.0, 1.0), 4), "EmpiricalMean on Uniform data is intractable"),
    (lambda: mi.LikelihoodRatio(mi.PoissonSubsampled(MEAN, 0.5), mi.Bernoulli(P), 4), r"PoissonSubsampled\(EmpiricalMean\) on Bernoulli data is intractable"),
    (lambda: mi.LikelihoodRatio(lambda key, records: records[0], mi.Bernoulli(P), 4), "FunctionMechanism on Bernoulli data is intractable"),
    (lambda: mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), 4, [0.5, 1.0]), "target is outside the support of Bernoulli"),
    (lambda: mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), 4, [1.0]), r"target has shape \(1,\); it must have shape"),
    (lambda: mi.LikelihoodRatio(mi.GaussianNoise(MEAN, [1.0, 1.0, 1.0]), mi.Gaussian(0.0, [1.0, 1.0]), 4), r"record_deviation has shape \(3,\); it must be a number or a vector of shape \(2,\)"),
    (lambda: mi.GaussianLikelihoodRatio(mi.Bernoulli(P), 4), "data is Bernoulli; it must be Gaussian"),
    (lambda: mi.GaussianLikelihoodRatio(mi.Gaussian(0.0, [[1.0, 1.0], [1.0, 1.0]]), 4), "covariance is not positive definite"),
    (lambda: mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), 4).score(jnp.ones(3), jnp.ones(3)), r"the game's target has shape \(3,\); the attack needs \(2,\)"),
    (lambda: mi.CovarianceScore(DATA, 10, target=[1.0]), r"target has shape \(1,\); it must have shape \(3,\)"),
    (lambda: mi.CovarianceScore(mi.EstimatedMoments([[0.0, 1.0], [1.0, 1.0]]), 10), "covariance is 0.0 at coordinate 1; every variance must be > 0"),
    (lambda: mi.EstimatedMoments(np.zeros((0, 2))), r"reference has shape \(0, 2\); it must be a matrix"),
    (lambda: mi.ScalarProduct([0.0, 1.0], target=[1.0]), r"target has shape \(1,\); it must have shape \(2,\)"),
    (lambda: mi.ScalarProduct(np.zeros(3)).score(jnp.ones(2), jnp.ones(2)), r"the game's target has shape \(2,\)"),
    (lambda: mi.FixedTarget(mi.EmpiricalMean(), PLANE, 4, [0.0]), r"target has shape \(1,\); it must have shape \(2,\)"),
    (lambda: mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), np.ones(3)), PLANE, 4, [0.0, 0.0]), r"record_deviation has shape \(3,\); it must be a number or have the output's shape \(2,\)"),
    (lambda: mi.RandomTarget(mi.GaussianNoise(mi.Subsampled(mi.LaplaceNoise(mi.EmpiricalMean(), [1.0]), 0.5), 1.0), PLANE, 4), r"scale has shape \(1,\); it must be a number or have the output's shape \(2,\)"),
]  # fmt: skip
CHANGED: list[tuple[Callable[[Any], object], list[tuple[Any, str]]]] = [
    (lambda a: nn.train(**{"network": IMAGE_NET, "x": IMAGES, "y": KINDS, "epochs": 1, "rate": 0.1, "batch": 4} | a), [
        ({"x": IMAGES[:, 1:]}, r"x has shape \(13, 7, 8, 3\); the network takes \(N, 8, 8, 3\)"),
        ({"y": KINDS[1:]}, r"y has shape \(12,\); it must be \(13,\)"),
        ({"y": KINDS + 1}, r"y holds 4 at index .*classes 0 to 3"),
        ({"x": np.where(np.arange(13)[:, None, None, None] == 2, np.nan, IMAGES)}, "not finite in row 2"),
        ({"batch": 14}, "batch is 14; there are 13 examples"),
        ({"optimiser": "adagrad"}, "optimiser is 'adagrad'; allowed: sgd, adam"),
    ]),
    (lambda a: mi.play(**PLAYED | a), [
        ({"fidelity": "magic"}, "fidelity is 'magic'; allowed: auto, literal, sufficient, projected, exact"),
        ({"fidelity": "exact"}, r"fidelity is 'exact', which plays no games; .* call game\.exact\(attack\)"),
        ({"game": MEDIAN, "fidelity": "sufficient"}, "FunctionMechanism and "),
        ({"edges": [0.0, np.nan]}, "edges holds nan at index 1"),
        ({"edges": [0.0, 0.0]}, "edges falls or stays at index 1"),
        ({"edges": [[0.0]]}, "edges has shape"),
        ({"attack": mi.CovarianceScore(mi.Bernoulli([0.5]), n=10)}, "CovarianceScore does not fit the game"),
        ({"attack": mi.LikelihoodRatio(mi.EmpiricalMean(), mi.Bernoulli([0.5]), n=10)}, "LikelihoodRatio knows data of dimension 1; the game's is 3"),
        ({"attack": lambda t, o: o}, r"shape \(3,\) and dtype float64; the score must be a real scalar"),
        ({"attack": lambda t, o: o[0] * 1j}, "the score must be a real scalar"),
        ({"attack": lambda t, o: (o[0], o[1])}, "returns several arrays; the score must be a real scalar"),
        ({"attack": lambda t, o: o @ jnp.ones(4)}, "does not fit the game, whose target has shape"),
        ({"attack": lambda t: 0.0}, r"takes \(t\); it is called as attack\(target, output\)"),
        ({"game": mi.FixedTarget(lambda key, r: r @ jnp.ones(5), DATA, n=10, target=GAME.target)}, "mechanism <lambda> cannot be played"),
        ({"games": range(0, 10, 2)}, "step 1"),
        ({"games": range(-1, 10)}, "begin at 0"),
        ({"shard": (2, 2)}, "i must be below k"),
        ({"devices": 99}, "devices is 99; this process has"),
    ]),
    (lambda a: mi.play(**PLAYED | {"games": 10**12} | a), [
        ({"until": mi.GaussianTradeOff(0.0)}, "tolerance is None, but 2% of the claim's own mu"),
        ({"until": mi.GaussianTradeOff(1.0), "shard": (0, 2)}, r"shard is \(0, 2\) beside until; it must be None then"),
    ]),
    (lambda a: mi.Histogram(*map(np.array, a)), [
        (([0.0, 0.0], [1, 0, 0], [1, 0, 0]), "edges"),
        (([0.0], [1, 0, 0], [1, 0]), "out has shape"),
        (([0.0], [1.0, 0.5], [1, 0]), "out has dtype"),
        (([0.0], [1, 1], [1, 0]), "as many"),
    ]),
    (lambda f: counted(0) + f(), [
        (lambda: counted(0, 200), "both histograms hold game 0 of seed 0"),
        (lambda: counted(1, edges=EDGES[1:]), "different edges"),
        (lambda: counted(1, fidelity="literal"), "differ in their fidelity"),
        (lambda: counted(1, attack=mi.ScalarProduct(np.zeros(3))), "differ in their attack"),
        (lambda: counted(1, game=mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=np.ones(3))), "differ in their game"),
        (lambda: mi.Histogram(EDGES, counted().out, counted().inside), "differ in their game"),
    ]),
    (lambda a: binomial_table(*a), [
        ((0, [0.5], None), "n is 0"),
        ((5, [0.0, 0.5], None), "p holds 0"),
        ((5, [[0.5]], None), "p has shape"),
        ((1000, [0.5], 5), "needs 2"),
    ]),
    (lambda a: mi.TwoInputs(shifted, *a), [
        (([0.0], [0.0, 1.0]), "b has shape"),
        (([np.nan], [0.0]), "a holds nan"),
    ]),
    (lambda a: mi.trained_attack(mi.TwoInputs(shifted, [0.0], [1.0]), **a), [
        ({"games": 10}, "games is 10; it must be a whole number >= 100"),
        ({"games": 1e15}, r"games is 1e\+15; training looks at 1,536,000 games"),
        ({"seed": 2**63}, r"seed is 9223372036854775808; it must be a whole number >= 0 and below 2\^63"),
    ]),
    (lambda a: CoordinateClip(*a), [
        ((1.0, 1.0), "high is 1.0"),
        ((np.nan, 1.0), "low is nan"),
        (("0", 1.0), "low is '0'"),
    ]),
    (lambda a: moved(**a), [
        ({"clip": 0.0}, "clip is 0"),
        ({"noise_multiplier": 1.0}, "noise_multiplier is 1 with clip = inf"),
        ({"clip": 1.0, "noise_multiplier": -1.0}, "noise_multiplier is -1"),
        ({"sampling": "all"}, "sampling is 'all'; allowed: shuffled, fixed, poisson"),
    ]),
    (lambda a: PAIR.compare(**{"claim": mi.GaussianTradeOff(1.0)} | a), [
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"least_rate": 0.5}, "least_rate is 0.5"),
        ({"claim": 1.0}, "claim is float; it must be a trade-off function"),
    ]),
    (lambda a: bands.family_lower_bound(*a), [
        (([1], 10, [1, 2], 10, bands.gdp(), 0.05), "false_negatives has 2 entries; it must have 1"),
        (([11], 10, [1], 10, bands.gdp(), 0.05), "false_positives holds 11"),
        (([1], 10, [1], 10, bands.gdp(), 1e-5), "failure_probability is 1e-05"),
    ]),
    (lambda a: bands.clopper_pearson(*a), [
        (([1.5], 10, 0.05), "count holds 1.5; it must hold whole numbers from 0 to games = 10"),
    ]),
    (lambda a: curve_of(*a), [
        (([1.0], [np.nan]), "in_scores holds NaN"),
    ]),
    (lambda a: mi.EmpiricalTradeOff(**THRESHOLDED | a), [
        ({"thresholds": [0.0, 0.0]}, "thresholds falls or stays at index 1"),
        ({"thresholds": [0.0, np.inf]}, "thresholds holds inf"),
        ({"thresholds": [0.0]}, "false_positives has 2 entries; it must have an entry per threshold, 1"),
        ({"false_positives": [1, 2]}, "false_positives rise with the threshold"),
        ({"false_positives": [11, 2]}, "false_positives holds 11; .* from 0 to out_games = 10"),
        ({"false_negatives": [2, 1]}, "false_negatives fall as the threshold rises"),
    ]),
    (lambda a: bands.CountedRates(**{"count": [5.0], "games": 10} | a), [
        ({"count": [11.0]}, "count holds 11; it must hold whole numbers from 0 to games = 10"),
    ]),
    (lambda a: exact().compare(**{"claim": mi.GaussianTradeOff(0.1)} | a), [
        ({"claim": 1.0}, "claim is float; it must be a trade-off function"),
        ({"kind": "limit"}, "kind is 'limit'; allowed: equality, upper_bound_on_power, ordering"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"tolerance": 0.1, "kind": "ordering"}, "tolerance is 0.1; a bound judged by an exact curve has none"),
    ]),
    (lambda a: Known(a), [
        ("no distribution function", r"^Known.cdf is 1.\d+ at .*; it must be in \[0, 1\]"),
        ("falling", r"^Known.cdf falls between"),
    ]),
    (lambda a: tradeoff.calibrate(lambda sigma: mi.GaussianTradeOff(1 / sigma), **a), [
        ({}, "the targets given are none; give exactly one"),
        ({"advantage": 0.1, "mu": 1.0}, "the targets given are advantage, mu; give exactly one"),
        ({"tpr": 0.1}, "tpr and fpr must be given together"),
        ({"epsilon": 1.0}, "epsilon and delta must be given together"),
        ({"mu": 0.0}, "mu is 0.0"),
        ({"tpr": 0.01, "fpr": 0.05}, r"tpr is 0.01; it must be a finite number in \(0.05, 1\)"),
        ({"epsilon": 1.0, "delta": 1.0}, r"delta is 1.0; it must be a finite number in \[0, 1\)"),
        ({"epsilon": 1.0, "delta": 0.0}, r"no noise up to 1e\+06 reaches \(1, 0\)-DP"),
        ({"mu": 1e-9}, r"no noise up to 1e\+06 reaches mu <= 1e-09"),
    ]),
    (lambda a: mi.compose(mi.GaussianTradeOff(1.0), **a), [
        ({"copies": [1, 2]}, "copies has 2 entries; it must have an entry per curve, 1"),
        ({"accuracy": 0.5}, r"accuracy is 0.5; it must be a finite number in \[1e-09, 0.1\]"),
    ]),
    (lambda a: tradeoff.NoncentralChiSquareTradeOff(*a), [
        ((0.5, 0.0, 1.0), r"d is 0\.5"),
        ((3, 0.0, 1e9), r"in_noncentrality is 1000000000\.0"),
        ((3, 0.0, 1.0, 0.0), r"out_scale is 0\.0"),
        ((3, 0.0, 1.0, 1.0, -2.0), r"in_scale is -2\.0"),
        ((3, 0.0, 1.0, 1.0, 1.0, "both"), r"rejects is 'both'; allowed: large, small"),
    ]),
    (lambda a: tradeoff.SampledTradeOff(*a), [
        (([0.1, 0.5], [0.5, 0.6]), "at most 1 - alpha"),
        (([0.5, 0.1], [0.5, 0.6]), "increase strictly"),
        (([0.2, 0.4], [0.5, 0.55]), "must not increase"),
        (([0.2, 0.4, 0.6], [0.75, 0.58, 0.1]), "must be convex"),
    ]),
    (lambda a: tradeoff.PiecewiseLinearTradeOff(*a), [
        (([0.1, 1], [0.9, 0]), "alpha runs from 0.1 to 1; it must run from 0 to 1"),
        (([0, 0.5, 0.5, 1], [1, 0.4, 0.3, 0]), "alpha holds 0.5 after 0.5; it must increase strictly"),
        (([0, 0.5, 1], [1, 0.5]), r"beta has shape \(2,\); it must have shape \(3,\)"),
        (([0, 0.5, 1], [1, 0.6, 0]), "beta holds 0.6 at alpha 0.5; it must be at most 1 - alpha"),
        (([0, 0.5, 1], [1, 0.2, 0.1]), "beta holds 0.1 at alpha 1"),
        (([0, 0.2, 0.4, 1], [0.5, 0.1, 0.2, 0]), "beta rises after alpha 0.2; it must not increase"),
        (([0, 0.2, 0.4, 1], [0.5, 0.45, 0.1, 0]), "beta lies above the chord at alpha 0.2; it must be convex"),
        (([[0, 1]], [[1, 0]]), r"alpha has shape \(1, 2\)"),
    ]),
    (lambda a: mi.plot(a), [
        ([mi.GaussianTradeOff(1.0), 0.5], "curves holds float as '0.5'; every entry must be a trade-off curve"),
    ]),
    (lambda a: limit_verdict(*a), [
        ((SHORT[:5], SHORT[:5], 0.02), "sizes has 5 entries; a limit is judged by at least 6"),
        ((SHORT, SHORT[:6], 0.02), "gaps has 6 entries; it must have an entry for each of the 7 sizes"),
        ((np.arange(10.0, 16), np.zeros(6), 0.02), "sizes run from 10 to 15; they must reach 32 times the first"),
        ((SHORT[::-1], np.zeros(7), 0.02), "sizes holds 3200 after 6400; they must grow"),
        ((SHORT, np.where(SHORT == 400, np.nan, 0), 0.02), r"gaps\[2\], at size 400, is NaN"),
        ((SHORT, SHORT, 0.02, -1.0), "errors holds -1; each must be finite and >= 0"),
        ((SHORT, np.zeros((7, 2)), 0.02), "gaps has 2 dimensions"),
    ]),
    (lambda a: rf.Rate(**{"constant": 1.0, "power": 0.5, "limit": 0.0, "source": "school"} | a), [
        ({"source": " "}, "source is ' '; it must name the theorem"),
    ]),
    (lambda a: rf.Statement(**parts(**a)), [
        ({"name": ""}, "name is ''; it must be words"),
        ({"domain": {}}, "domain of shift is {}; it must name at least 1 parameter"),
        ({"domain": {"s": (0, 1)}}, "domain of shift has (0, 1) for s; it must be Real, Whole, Choice or Fixed"),
        ({"truth": lambda s, tau: 1.0}, "truth of shift asks for tau, which is no parameter; its domain has s, sigma"),
        ({"kind": rf.Limit("n")}, "grows is 'n'; it must be a Real or Whole parameter"),
        ({"points": [{"s": 1.0}]}, "at has no value for sigma"),
        ({"points": [{"s": 1.0, "sigma": 1.0, "n": 2}]}, "at names 'n', which is no parameter of shift"),
        ({"points": [{"s": 3.0, "sigma": 1.0}]}, "s is 3.0; shift allows [0.1, 2]"),
        ({"points": [{"s": 1.0, "sigma": 1.0}], "where": lambda s, sigma: s < sigma}, "where of shift excludes {'s': 1.0, 'sigma': 1.0}"),
    ]),
    (lambda a: rf.judge(statement(rf.Bound(), lambda mu: 1.0, lambda mu: 1.0), **a), [
        ({"at": {"nu": 1.0}}, "at names 'nu', which is no parameter of s; it has mu"),
        ({"at": {"mu": 30.0}}, "mu is 30.0; s allows [0.1, 3]"),
        ({"games": 10}, "games is 10"),
    ]),
    (lambda a: Study(**STUDIED | a), [
        ({"name": "a/b"}, "name is 'a/b'"),
        ({"games": {"quick": 1}}, "games is"),
    ]),
    (lambda a: read_claim(a), [
        *((text, r"it must be like mu=1 .*epsilon=2,delta=1e-5.*\.csv file with") for text in ("mu", "mu=a", "mu=1,delta=0", "delta=1", "epsilon=1,delta=1,mu=2", "", "mu==1", "mu=1,mu=1,")),
        *((text, "it must be") for text in ("mu=1,mu=2", "epsilon=1,delta=1e-5,epsilon=9")),
        ("epsilon=-1,delta=0", "epsilon is "),
        ("epsilon=1,delta=2", "delta is "),
        ("no.csv", "is no file"),
        ("mu=-1", "mu is -1"),
        ("rho=1e15", "rho is 1000000000000000"),
        ("advantage=2", "advantage is 2"),
        ("sigma=1,rate=2", "rate is 2"),
        ("rate=0.1,steps=10", "claim is 'rate=0.1,steps=10'; it must be like"),
    ]),
    (lambda a: OneRun(Scores.of(np.arange(100.0), np.tile([0, 1], 50)), 0.05, a), [
        ((0, 0), r"guesses is \(0, 0\); together they must be from 1 to the 100 canaries"),
        ((-1, 30), r"guesses\[0\] is -1"),
        (5, "guesses is 5; it must be a pair"),
    ]),
    (lambda a: mi.audit(AUDITED, COINS, **a), [
        ({"design": "guess"}, "design is 'guess'; allowed: independent, one-run, runs, clustered"),
        ({"design": "g" * 5000}, "design is 'ggg"),
        ({"design": "one-run", "guesses": "g" * 5000}, "guesses is 'ggg"),
        ({"design": "one-run", "guesses": (10**5000, 1)}, r"guesses\[0\] is <int>; it must be a whole number >= 0 and below 2\^63"),
        ({"design": "one-run", "delta": 10**400}, "delta is 1000"),
        ({"design": "one-run", "confidence": "\x1b" * 300}, r"confidence is '\x1b"),
        ({"design": "one-run", "claim": type("\x1b" * 500, (), {})()}, r"claim is \x1b"),
        ({"design": "independent", **CLUSTERS}, '2,000 scores are in 500 clusters, which design "independent" contradicts'),
        ({"design": "one-run", **CLUSTERS}, 'which design "one-run" contradicts'),
        ({"design": "clustered"}, 'it has no cluster; design "clustered" needs to know'),
        ({"design": "independent", "guesses": (1, 1)}, "guesses is given for the design 'independent'"),
        ({"design": "independent", "claim": 1.0}, "claim is float; it must be a trade-off function known by a formula or an exact law, or text"),
        ({"design": "independent", "claim": "rate=1"}, "claim is 'rate=1'"),
        ({"design": "independent", "confidence": 0.05}, "confidence is 0.05; it must be a finite number in [0.5, 1)"),
        ({"design": "one-run", "confidence": 0.05}, "confidence is 0.05; it must be a finite number in [0.5, 1)"),
        ({"design": "clustered", "confidence": 1 - 1e-10}, "confidence is 0.9999999999; the design 'clustered' allows 1 - 2e-09 at most"),
        ({"design": "independent", "delta": 0.1, "claim": "epsilon=1,delta=0"}, "delta is 0.1 and the claim's is 0"),
    ]),
    (lambda a: mi.audit(AUDITED[:240].reshape(40, 6), COINS[:240].reshape(40, 6), **a), [
        ({"design": "independent"}, 'scores has shape (40, 6); a matrix of records and models is for design "runs"'),
        ({"design": "runs"}, "say what a row is of, records or models, as rows='records'"),
        ({"design": "runs", "rows": "columns"}, "rows is 'columns'; allowed: records, models"),
        ({"design": "runs", "rows": "records", "runs": np.zeros(240)}, "is given beside a matrix"),
        ({"design": "runs", "rows": "records", "runs": 7}, "runs is 7, and 6 are named"),
        ({"design": "runs", "rows": "records", "shadow": [7]}, "7 is no name of a run"),
        ({"design": "runs", "rows": "records", "shadow": range(5)}, "scores of judged runs to calibrate"),
        ({"design": "runs", "rows": "records", "inclusion_probability": 0.5}, "which need no probability of a coin"),
    ]),
    (lambda a: mi.audit(AUDITED[:240], COINS[:240], **a), [
        ({"design": "independent"}, 'say runs=240 if so many were run; for records of a run use "one-run", of several "runs"'),
        ({"design": "independent", "runs": 6}, "say runs=240 if so many were run, not 6; for"),
        ({"design": "independent", "runs": np.arange(240) % 6}, "not 6; for"),
        ({"design": "one-run", "runs": 6}, '6 runs are stated for design "one-run"; design "runs" is for several'),
        ({"design": "runs", "runs": 6}, 'design "runs" needs the name of the run and of the record of each score'),
        ({"design": "runs", "runs": np.arange(240) % 6, "records": np.arange(240) // 12}, "a record has several scores in a run"),
        ({"design": "clustered", "cluster": np.arange(240) // 6, "runs": 6}, "6 runs are in 40 clusters, which depend on each other"),
        ({"design": "clustered", "cluster": np.arange(240) // 6, "runs": np.arange(240) % 120}, "120 runs are in 40 clusters"),
        ({"design": "clustered", "records": np.arange(240)}, "records is given for the design 'clustered'"),
    ]),
    (lambda a: mi.audit(np.arange(1000.0), np.arange(1000) < 40, **{"inclusion_probability": 0.5} | a), [
        ({"design": "independent"}, "inclusion_probability is given for the design 'independent'"),
        ({"design": "one-run", "inclusion_probability": 0.04}, "inclusion_probability is 0.04; as if by fair coins"),
    ]),
]  # fmt: skip


def check(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        call()
    text = str(caught.value)
    assert words in text or re.search(words, text)
    assert "\n" not in text
    assert len(text) < 340


@pytest.mark.parametrize(("call", "words"), CALLS, ids=[words[:40] for _, words in CALLS])
def test_a_call_is_refused(call: Callable[[], object], words: str) -> None:
    check(call, words)


@pytest.mark.parametrize(
    ("call", "wrong", "words"),
    [pytest.param(call, *row, id=row[1][:40]) for call, rows in CHANGED for row in rows],
)
def test_an_argument_is_refused(call: Callable[[Any], object], wrong: Any, words: str) -> None:
    check(lambda: call(wrong), words)
