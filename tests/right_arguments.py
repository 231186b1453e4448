"""A right call of every public name: the tests put what is wrong in the place of each argument.

A member that the contracts have, and that keeps its arguments as fields, is made once more with these: it needs no row here.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim import bands, data, engine, nn, special, theory, tradeoff
from mipsim import referee as rf
from mipsim.audits import RunningAudit
from tests.contracts import test_attacks, test_curves, test_games, test_mechanisms
from tests.distributions.members import MEMBERS

RNG = np.random.default_rng(0)
COINS = np.arange(200) % 2
SCORES = RNG.normal(size=200) + COINS
ROWS = RNG.normal(size=(12, 2))
LAW = mi.Gaussian(np.zeros(2), 1.0)
CURVE = mi.GaussianTradeOff(1.0)
COUNTS = {
    "false_positives": [5000, 1587],
    "out_games": 10_000,
    "false_negatives": [1587, 5000],
    "in_games": 10_000,
}
PLAYED = mi.EmpiricalTradeOff([0.0, 1.0], **COUNTS)
NETWORK, DEEP = nn.linear((2,), 2), nn.layered((2,), (3,), 2)


def zeros(network: nn.Network) -> Any:
    """Parameters for which nothing is compiled."""
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, np.float32), network.shapes)


START = zeros(NETWORK)

MEAN = mi.EmpiricalMean()
GAME = mi.FixedTarget(MEAN, LAW, n=5, target=[1.0, 2.0])
SCALAR = mi.ScalarProduct([1.0, 2.0])
SCHEME = {"sampling_rate": 1.0, "steps": 1, "neighbours": "add_or_remove", "sampling": "poisson"}
NOISE = {**SCHEME, "noise": "gaussian"}
PLAY = {
    "games": 9,
    "seed": 0,
    "edges": [0.0, 1.0],
    "fidelity": "auto",
    "precision": "float64",
    "chunk": 9,
    "progress": False,
    "workers": 1,
}
STUDIES = {"confidence": 0.999, "seed": 0, "games": 1000, "progress": False}
DESCENT = nn.Descent(NETWORK, START, ROWS, COINS[:12], batch=4, steps=2, rate=0.1, releases="parameters")  # pyright: ignore[reportArgumentType]
SHADOWS = np.zeros((3, NETWORK.dimension()))


def _summed(rows: Any) -> Any:
    return rows.sum(axis=0)


def _budget_in_mu(mu: float, copies: int) -> Any:
    return mi.PrivacyFilter(mu=mu).step(CURVE, copies)


def _released(key: Any, rows: Any) -> Any:
    return rows.mean(axis=0)


def _scored(target: Any, output: Any) -> Any:
    return jnp.dot(target, output)


def _curve(noise: float) -> Any:
    return mi.GaussianTradeOff(1.0 / noise)


def _unit(**at: Any) -> Any:
    return 1.0


def _half(rate: float) -> float:
    return 0.5 * rate


def _rates(fpr: Any) -> Any:
    return 1.0 - fpr, fpr


def _unnamed(call: Callable[..., Any], *names: str, more: Any = ()) -> Callable[..., Any]:
    """The call, whose first arguments have no names of their own."""

    @wraps(call)
    def named(**given: Any) -> Any:
        return call(*(given.pop(name) for name in names), *more, **given)

    return named


STATEMENT = rf.Statement(
    name="s",
    says="so",
    source="here",
    kind=rf.Bound(),
    domain={"x": rf.Real(0.0, 1.0)},
    claimed=_unit,
    truth=_unit,
    control=rf.Control({"x": 0.5}),
)
JUDGED = rf.judge(STATEMENT, at={"x": 0.5})
AUDITED = mi.audit(SCORES, COINS, design="independent", runs=200)
PLAYED_ONCE = mi.Histogram(np.array([0.0]), np.array([1, 2]), np.array([2, 1]))

Calls = list[tuple[Callable[..., Any], dict[str, Any]]]
OF_NUMBERS: Calls = [
    (mi.audit, {"scores": SCORES, "member": COINS, "design": "independent", "runs": 200, "delta": 1e-5, "confidence": 0.9}),
    (mi.audit, {"scores": SCORES, "member": COINS, "design": "one-run", "inclusion_probability": 0.5}),
    (RunningAudit, {"claim": "mu=1", "thresholds": [0.0, 1.0], "confidence": 0.95}),
    (RunningAudit("mu=1", thresholds=[0.0]).update, {"scores": [0.1, 0.2], "member": [0, 1]}),
    (mi.EmpiricalTradeOff.from_scores, {"out_scores": SCORES[:9], "in_scores": SCORES[9:], "confidence": 0.9, "thresholds": 64}),
    (mi.EmpiricalTradeOff, {"thresholds": [0.0, 1.0], **COUNTS, "confidence": 0.9}),
    (mi.Histogram, {"edges": np.array([0.0, 1.0]), "out": np.array([1, 2, 3]), "inside": np.array([3, 2, 1])}),
    (PLAYED.band, {"alpha": [0.1, 0.2]}),
    (PLAYED.tpr_interval, {"fpr": [0.2, 0.6]}),
    (PLAYED.epsilon_lower_bound, {"delta": 1e-5}),
    (PLAYED.tpr_lower_bound, {"fpr": 0.1}),
    (bands.clopper_pearson, {"count": [1, 2], "games": 10, "failure_probability": 0.01}),
    (bands.duembgen_wellner, {"count": [2, 1], "games": 10, "failure_probability": 0.01}),
    (tradeoff.PrivacyLossDistribution, {"losses": [1.0986, -1.0986], "out_masses": [0.25, 0.75], "in_masses": [0.75, 0.25], "out_only": 0.0}),
    (tradeoff.PiecewiseLinearTradeOff, {"alpha": [0.0, 0.5, 1.0], "beta": [1.0, 0.2, 0.0]}),
    (tradeoff.SampledTradeOff, {"alpha": [0.0, 0.5, 1.0], "beta": [1.0, 0.2, 0.0]}),
    (mi.ApproxDPTradeOff, {"epsilon": 1.0, "delta": 1e-6}),
    (mi.GaussianTradeOff, {"mu": 1.0}),
    (mi.GaussianMixtureTradeOff, {"sensitivities": [0.0, 1.0], "probabilities": [0.5, 0.5], "noise": 1.0, "opposite": [0.0, 2.0], "opposite_probabilities": [0.25, 0.75]}),
    (mi.LaplaceTradeOff, {"mu": 1.0}),
    *((getattr(CURVE, name), {"alpha": [0.1, 0.2]}) for name in ("beta", "beta_bounds")),
    *((getattr(CURVE, name), {"fpr": [0.1, 0.2]}) for name in ("tpr_at", "tpr_bounds")),
    (CURVE.epsilon, {"delta": [0.1, 0.2]}),
    (CURVE.delta, {"epsilon": [0.1, 0.2]}),
    (CURVE.bayes_risk, {"prior": [0.1, 0.2]}),
    (mi.account, {"noise_multiplier": 1.0, "sampling_rate": 1.0, "steps": 1, "delta": [1e-5], "epsilon": [1.0], "fpr": [0.1]}),
    (mi.account, {"noise_multiplier": 1.0, "delta": 1e-5, "epsilon": 1.0, "fpr": 0.1}),
    (
        mi.certify,
        {
            "question": mi.GaussianTradeOff(1.0),
            "path": "here",
            "delta": 1e-5,
            "epsilon": 1.0,
            "fpr": 0.1,
            "width": 0.1,
        },
    ),
    (mi.dpsgd, {"noise_multiplier": 1.0, "sampling_rate": 0.5, "steps": 2, "group": 2}),
    (mi.find_noise_multiplier_for_epsilon_delta, {"epsilon": 1.0, "delta": 1e-5, "sampling_rate": 1.0, "steps": 1}),
    (mi.matrix_mechanism, {"matrix": np.eye(2), "noise_multiplier": 1.0, "period": 1, "sampling_rate": 0.5}),
    (mi.fixed_samples, {"noise_multiplier": 1.0, "sample_size": 2, "data_size": 9, "steps": 2, "replacement": True, "group": 2, "neighbours": "add"}),
    (mi.truncated_poisson, {"noise_multiplier": 1.0, "sampling_rate": 0.1, "largest": 3, "data_size": 9, "steps": 2, "neighbours": "add"}),
    (mi.exponential_mechanism, {"epsilon": 1.0, "runs": 2}),
    (mi.permute_and_flip, {"epsilon": 1.0, "runs": 2}),
    (mi.discrete_gaussian, {"scale": 1.0, "sensitivity": 2}),
    (mi.discrete_laplace, {"scale": 1.0, "sensitivity": 2}),
    (mi.skellam, {"variance": 1.0, "sensitivity": 2}),
    (mi.random_allocation, {"noise_multiplier": 1.0, "steps": 2, "selected": 1, "epochs": 2}),
    (mi.Gaussian, {"mean": np.zeros(2), "cov": np.eye(2)}),
    (mi.Bernoulli, {"p": [0.3, 0.6]}),
    (mi.Empirical, {"records": ROWS}),
    (mi.Discrete, {"values": [0.0, 1.0], "probabilities": [0.5, 0.5]}),
    (mi.FixedTarget, {"mechanism": mi.EmpiricalMean(), "data": LAW, "n": 5, "target": [1.0, 2.0]}),
    (mi.ScalarProduct, {"reference": [1.0, 2.0], "target": [1.0, 2.0]}),
    (mi.CovarianceScore, {"moments": LAW, "n": 5, "target": [1.0, 2.0], "record_deviation": 0.5}),
    (nn.Descent, {"network": NETWORK, "start": START, "x": ROWS, "y": COINS[:12], "batch": 4, "steps": 2, "rate": 0.1}),
    (special.noncentral_chi_square.cdf, {"x": [1.0, 2.0], "d": 3.0, "noncentrality": 1.0}),
    (theory.azize.leakage_score, {"data": LAW, "target": [1.0, 2.0], "n": 5, "record_deviation": 0.5}),
]  # fmt: skip
"""Of numbers, and arrays of them, in every way that NumPy would misread."""
CALLS: Calls = [
    *OF_NUMBERS,
    (mi.Gaussian, {"mean": 0.0, "cov": 1.0, "d": 2}),
    (mi.Empirical, {"records": ROWS, "covariance": "full"}),
    (mi.RandomTarget, {"mechanism": MEAN, "data": LAW, "n": 5}),
    (mi.RelaxedThreat, {"query": _summed, "records": [[0.0], [1.0]], "record": [2.0], "noise": mi.Gaussian(0.0, 1.0, d=1), "sampling_rate": 1.0, "shadows": 0}),
    (mi.Subset, {"mechanism": MEAN, "records": ROWS, "target": 0}),
    (mi.TwoInputs, {"mechanism": _released, "a": [[0.0], [1.0]], "b": [[1.0], [1.0]]}),
    (mi.EstimatedMoments, {"reference": ROWS, "regularisation": 0.1}),
    (mi.GLiR, {"data": LAW, "n": 5}),
    (mi.GLiRPValue, {"data": LAW, "n": 5, "axes": np.eye(2), "logarithm": False}),
    (mi.GaussianLikelihoodRatio, {"data": LAW, "n": 5, "target": [1.0, 2.0]}),
    (mi.LikelihoodRatio, {"mechanism": MEAN, "data": LAW, "n": 5, "target": [1.0, 2.0]}),
    (mi.OfflineLiRA, {"statistic": _scored, "score": "one_sided"}),
    (mi.ShrunkMoments, {"reference": ROWS}),
    (mi.trained_attack, {"game": GAME, "games": 200, "seed": 0, "hidden": (2,), "precision": "float64"}),
    (mi.play, {"game": GAME, "attack": SCALAR, **PLAY, "devices": 1, "shard": (0, 1), "executor": None, "until": None}),
    (mi.play, {"game": GAME, "attack": SCALAR, **PLAY, "until": CURVE}),
    (mi.play_many, {"game": GAME, "attacks": [SCALAR], **PLAY}),
    (mi.play_targets, {"game": GAME, "attack": SCALAR, "targets": [[1.0, 2.0]], **PLAY}),
    (mi.decide, {"game": GAME, "attack": SCALAR, "claim": CURVE, "games": 9, "seed": 0, "kind": "equality", "tolerance": 0.1, "confidence": 0.9, "least_rate": 0.01, "progress": False}),
    (mi.ManyHistogram, {"histograms": (PLAYED_ONCE, PLAYED_ONCE), "pooled": PLAYED_ONCE, "names": ("a", "b")}),
    (engine.describe, {"thing": 1.0}),
    (mi.Until, {"claim": CURVE, "kind": "equality", "tolerance": 0.1, "confidence": 0.9, "least_rate": 0.01, "thresholds": 64}),
    (mi.exact.exact_law, {"game": GAME, "attack": mi.CovarianceScore(LAW, 5)}),
    (mi.plot, {"curves": CURVE, "log": False}),
    (tradeoff.FoldedLaplaceTradeOff, {"mu": 1.0}),
    (tradeoff.InverseTradeOff, {"inner": CURVE}),
    (tradeoff.MixtureTradeOff, {"inner": CURVE, "sampling_rate": 0.5}),
    (tradeoff.NoncentralChiSquareTradeOff, {"d": 3.0, "out_noncentrality": 0.0, "in_noncentrality": 1.0}),
    (tradeoff.account, {"noise_multiplier": 1.0, **SCHEME, "neighbours": "remove", "sampling_rate": 0.55, "delta": 1e-5, "epsilon": 1.0, "fpr": 0.1, "claim": (8.0, 1e-5), "normalise": "floor", "data_size": 10, "dimension": 3}),
    (tradeoff.best_of_runs, {"curve": CURVE, "runs": 20.0, "shape": 1.0}),
    (_budget_in_mu, {"mu": 1.0, "copies": 2}),
    (mi.PrivacyFilter, {"rho": 1.0}),
    (tradeoff.calibrate, {"curve_of_noise": _curve, "advantage": 0.1, "least": 0.1, "most": 1e3, "both_directions": True}),
    (_unnamed(tradeoff.compose, "curve"), {"curve": CURVE, "copies": 2, "accuracy": 1e-4, "epsilon_accuracy": 1e-3}),
    (_unnamed(tradeoff.convex_hull, "curve", more=[CURVE]), {"curve": CURVE}),
    (tradeoff.bounds_from_rates, {"rates": _rates, "log_fpr": [-1.0], "error": 0.0, "relative": 1e-14}),
    (tradeoff.InverseFoldedLaplaceTradeOff, {"mu": 1.0}),
    (mi.dpsgd, {"noise_multiplier": 1.0, **SCHEME}),
    (mi.find_noise_multiplier_for_advantage, {"advantage": 0.1, **NOISE}),
    (mi.find_noise_multiplier_for_epsilon_delta, {"epsilon": 1.0, "delta": 1e-5, **NOISE}),
    (mi.find_noise_multiplier_for_err_rates, {"alpha": 0.1, "beta": 0.8, **NOISE}),
    (mi.find_noise_multiplier_for_mu, {"mu": 1.0, **NOISE}),
    (mi.budget, {"seconds": 1.0, "memory": 2**30}),
    (mi.find_noise_multiplier_for_tpr_at_fpr, {"tpr": 0.2, "fpr": 0.1, **NOISE}),
    (bands.approximate_dp, {"delta": 0.1}),
    (bands.CountedRates, {"count": [1, 2], "games": 10}),
    (bands.clopper_pearson, {"count": [1, 2], "games": 10, "failure_probability": 0.01, "thresholds": 1}),
    (bands.compare_curves, {"first": PLAYED, "second": PLAYED, "kind": "ordering", "failure_probability": 0.01, "tolerance": 0.02, "least_rate": 0.01, "independent": False}),
    (bands.family_lower_bound, {**COUNTS, "family": bands.gdp(), "failure_probability": 0.01}),
    (mi.audit, {"scores": SCORES, "member": COINS, "design": "one-run", "claim": CURVE, "higher": "in", "guesses": (5, 5)}),
    (mi.audit, {"scores": {"a": SCORES, "b": COINS}, "design": "independent", "runs": 200, "columns": {"score": "a", "member": "b"}}),
    (rf.Bound, {"unit": "number", "floor": 1e-9}),
    (rf.Ceiling, {"value": 1.0, "source": "here", "start": 1.0, "below": False}),
    (_unnamed(rf.Choice, "values", more=["a"]), {"values": 0.5, "meaning": "so"}),
    (rf.Fixed, {"fixed": 0.5, "meaning": "so"}),
    (rf.controlled, {"statement": JUDGED.statement}),
    (rf.gap_in, {"outcome": JUDGED, "unit": "advantage"}),
    (_unnamed(rf.grid, "base"), {"base": {"law": "uniform"}, "several": (2, 4)}),
    (rf.load, {"where": "here"}),
    (rf.report, {"results": JUDGED, "folder": "here", "facts": {"seed": "0"}}),
    (rf.report_audit, {"audit": AUDITED, "folder": "here", "about": {"seed": "0"}}),
    (_unnamed(rf.rows, "base", "names", "values"), {"base": {"law": "uniform"}, "names": "n p", "values": (2, 0.5)}),
    (rf.Control, {"at": {"x": 1.0}, "shift": 0.03, "attained": False}),
    (rf.Draws, {"out": [0.0, 1.0], "inside": [1.0, 2.0], "how": "so", "size": 5, "epsilon": 0.0}),
    (rf.Equality, {"tolerance": 0.1, "unit": "number", "floor": 1e-4}),
    (rf.Limit, {"grows": "n", "unit": "number", "floor": 1e-4, "tolerance": 0.1, "along": "n", "bound": False}),
    (rf.Number, {"value": 1.0, "error": 0.0, "unit": "", "route": "", "detail": ""}),
    (rf.Ordering, {"unit": "number", "floor": 1e-4}),
    (rf.Quote, {"text": "so", "place": "here"}),
    (rf.Rate, {"constant": 1.0, "power": 0.5, "limit": 1.0, "source": "here", "start": 1.0}),
    (rf.Real, {"low": 0.1, "high": 1.0, "log": False, "meaning": "so"}),
    (rf.Whole, {"low": 1, "high": 9, "log": False, "meaning": "so"}),
    (rf.Replication, {"value": 1.0, "low": 0.5, "high": 1.5, "what": "so", "how": "so", "claim": 1.0, "size": 5, "one_sided": False}),
    (rf.Statement, {"name": "s", "says": "so", "source": "here", "kind": rf.Bound(), "domain": {"x": rf.Real(0.0, 1.0)}, "claimed": _unit, "truth": _unit, "where": _unit, "defer_where": False, "derivation": "", "corrects": "", "formula": "", "snippet": ""}),
    (rf.judge, {"statement": STATEMENT, "at": {"x": 0.5}, **STUDIES, "budget": "1 probes", "point_seconds": 9.0}),
    (rf.hunt, {"statement": STATEMENT, **STUDIES, "budget": "32 probes"}),
    (rf.limit_verdict, {"sizes": [100.0 * 2**k for k in range(8)], "gaps": [0.1] * 8, "tolerance": 0.5}),
    (theory.azize.scalar_leakage, {"data": LAW, "aimed": [1.0, 2.0], "target": [1.0, 2.0], "n": 5}),
    (theory.azize.advantage, {"leakage": 1.0}),
    *((call, {"alpha": 0.1, "leakage": 1.0}) for call in (theory.azize.power, theory.azize.threshold)),
    (theory.azize.mean_tradeoff, {"leakage": 1.0}),
    *((call, {"leakage": 1.0, "sampling_rate": 0.5}) for call in (theory.azize.subsampled_tradeoff_printed, theory.azize.subsampled_tradeoff_corrected)),
    (theory.azize.effective_mu, {"weights": [1.0, 2.0], "data": LAW, "target": [1.0, 2.0], "n": 5}),
    (theory.izzo.epsilon_from_eta, {"eta": 0.1}),
    (theory.izzo.noise_constant, {"eta": 0.1, "moment": 2.0, "constant": 7.5}),
    (theory.izzo.mip_noise_scale, {"eta": 0.1, "sigma": 1.0}),
    (theory.izzo.sufficient_noise_scale, {"eta": 0.1, "sigma": 1.0}),
    (theory.izzo.dp_noise_scale, {"eta": 0.1, "sensitivity": 1.0}),
    *((getattr(theory.izzo_example, name), {"n": 6, "reading": "proof"}) for name in ("special_sum", "sensitivity", "moments")),
    (theory.izzo_example.mip_wins_from, {"n": 6, "sigma": 1.0}),
    (theory.kaissis.gaussian_tradeoff, {"mu": 1.0}),
    (theory.kaissis.FoldedGaussianTradeOff, {"mu": 1.0}),
    (theory.kaissis.symmetrised, {"j": CURVE}),
    (theory.kaissis.limit_beta, {"alpha": [0.1], "d": 3, "noncentrality": 1.0}),
    *((call, {"d": 3, "rows": 5.0, "susceptibility": 1.0}) for call in (theory.leemann.step_tradeoff, theory.leemann.step_mu)),
    (theory.leemann.long_run_mu, {"step": 0.1, "c": 1.0}),
    (theory.leemann.step_for_long_run_mu, {"mu": 1.0, "c": 1.0}),
    (theory.leemann.noise_for_step_mu, {"mu": 1.0, "d": 3, "n": 5, "susceptibility": 1.0, "clip": 1.0}),
    (theory.leemann.noise_for_dp, {"mu": 1.0, "n": 5, "clip": 1.0}),
    (theory.one_run.p_value, {"canaries": 100, "guesses": 10, "right": 9, "epsilon": 1.0, "delta": 0.0}),
    (theory.one_run.refuses_curve, {"canaries": 100, "guesses": 10, "right": 9, "fpr_at": _half, "significance": 0.05}),
    (theory.one_run.largest_refused, {"refused": _half, "least": 0.0, "most": 0.5}),
    (theory.one_run.least_tail, {"guesses": [1, 2], "right": [1, 2], "epsilon": 0.0}),
    (theory.one_run.of_two_records, {"epsilon": 0.5, "delta": 0.25}),
    (theory.one_run.refuses_gdp, {"canaries": 100, "guesses": 10, "right": 9, "mu": 1.0, "significance": 0.05}),
    (theory.one_run.refuses_epsilon, {"canaries": 100, "guesses": 10, "right": 9, "epsilon": 1.0, "delta": 0.0, "significance": 0.05, "records": 1, "runs": 1}),
    (theory.one_run.refuses_order, {"guesses": [16, 64], "right": [16, 50], "epsilon": 1.0, "significance": 0.05}),
    (theory.one_run.mu_bound, {"canaries": 100, "guesses": 10, "right": 9, "significance": 0.05, "least": 0.0}),
    (nn.LossThreshold, {"descent": DESCENT}),
    (nn.RMIA, {"descent": DESCENT, "population": [0, 1], "outside": SHADOWS, "gamma": 2.0, "offline_a": 0.3}),
    (nn.LiRA, {"descent": DESCENT, "outside": SHADOWS, "shared_variance": False}),
    (nn.Descent, {"network": NETWORK, "start": START, "x": ROWS, "y": COINS[:12], "batch": 4, "steps": 2, "rate": 0.1, "sampling": "shuffled", "clip": 1.0, "noise_multiplier": 0.0, "part": "trained", "releases": "steps"}),
    (nn.SummedOverSteps, {"descent": nn.Descent(NETWORK, START, ROWS, COINS[:12], batch=4, steps=2, rate=0.1), "attack": SCALAR, "part": "trained", "background": (ROWS, COINS[:12])}),
    (nn.shadow_models, {"game": mi.RandomTarget(DESCENT, DESCENT.records(), n=4), "count": 2, "member": False, "seed": 0}),
    *((call, {"split": "train", "directory": "here"}) for call in (data.cifar10, data.fashion_mnist)),
    (data.adult, {"split": "train", "directory": "here"}),
    (data.imagenet, {"split": "train", "directory": "here", "records": 9}),
    (data.location30, {"directory": "here"}),
    (data.snli, {"split": "train", "directory": "here", "records": 9, "width": 8}),
    (data.fetch, {"dataset": "imagenet32", "directory": "here"}),
    (nn.convolutional, {"inputs": (8, 8, 1), "channels": (2, 2, 2), "outputs": 2}),
    (nn.layered, {"inputs": (2,), "widths": (3,), "outputs": 2}),
    (nn.linear, {"inputs": (2,), "outputs": 2}),
    (nn.random_features, {"inputs": (8, 8, 1), "features": 4, "outputs": 2}),
    (nn.residual, {"inputs": (8, 8, 1), "widths": (2, 2, 2, 2), "outputs": 2}),
    (nn.per_example_gradients, {"network": NETWORK, "parameters": START, "x": ROWS, "y": COINS[:12], "part": "trained", "memory": 2**29}),
    (nn.features, {"network": DEEP, "parameters": zeros(DEEP), "x": ROWS}),
    (nn.train, {"network": NETWORK, "x": ROWS, "y": COINS[:12], "epochs": 1, "rate": 0.1, "batch": 4, "optimiser": "sgd", "sampling": "shuffled", "clip": 1.0, "noise_multiplier": 0.0, "views": 0, "seed": 0}),
    *((getattr(special.noncentral_chi_square, name), {"x": [1.0, 2.0], "d": 3.0, "noncentrality": 1.0}) for name in ("sf", "logcdf", "logsf", "logpdf", "log_tails")),
    *((getattr(special.noncentral_chi_square, name), {"q": [0.1, 0.2], "d": 3.0, "noncentrality": 1.0}) for name in ("ppf", "isf")),
    *((getattr(special.noncentral_chi_square, name), {"log_q": [-1.0, -2.0], "d": 3.0, "noncentrality": 1.0}) for name in ("logppf", "logisf")),
]  # fmt: skip


MADE = (
    *(mi.Account, mi.AccountComparison, mi.Audit, mi.BoundedTradeOff, mi.Comparison),
    *(mi.ComposedTradeOff, mi.ConvexHullTradeOff, mi.CurveBounds, mi.EmpiricalTradeOff, mi.TrainedClassifier),
    *(tradeoff.Vertices, mi.exact.ExactTradeOff, bands.CurveBand, bands.OrderingComparison),
    *(data.DataError, data.DataSet, nn.Network, nn.Steps, theory.izzo_example.HalfMoments),
    *(rf.LimitVerdict, rf.Outcome, rf.Point, rf.Verdict),
)
"""What functions of the library make and a user does not."""


def _made_anew(member: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    taken = inspect.signature(type(member).__init__).parameters
    return type(member), {
        name: getattr(member, name) for name in taken if name != "self" and hasattr(member, name)
    }


OF_FAMILIES: Calls = [
    _made_anew(member)
    for member in {
        type(member): member
        for member in (
            *(member.law for member in MEMBERS.values()),
            *(row[0] for row in test_mechanisms.MEMBERS.values()),
            *(row[0] for row in test_attacks.MEMBERS),
            *(row[0] for row in test_games.MEMBERS.values()),
            *(row[1] for row in test_curves.MEMBERS),
        )
    }.values()
    if type(member) not in [*(call for call, _ in CALLS), *MADE]
]
CALLS += OF_FAMILIES

WORDS_OF_USERS = ("", "so", "s", "here", "n", "number")
"""What stands above where a user writes words of their own."""
