"""What NumPy would read wrongly, in place of every argument that holds numbers: refused, in a sentence that names the argument.

The calls are those of a table; every argument of a call is tried that holds a number or numbers, with every wrong value of its kind.
"""

import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import mipsim as mi
from mipsim import bands, nn, special, theory, tradeoff
from mipsim.audits import RunningAudit

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
PLAYED = mi.EmpiricalTradeOff.from_counts([0.0, 1.0], **COUNTS)
NETWORK = nn.linear((2,), 2)
START = NETWORK.start(0)

CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (
        mi.audit,
        {
            "scores": SCORES,
            "member": COINS,
            "design": "independent",
            "runs": 200,
            "delta": 1e-5,
            "confidence": 0.9,
        },
    ),
    (mi.audit, {"scores": SCORES, "member": COINS, "design": "one-run", "inclusion_probability": 0.5}),
    (RunningAudit, {"claim": "mu=1", "thresholds": [0.0, 1.0], "confidence": 0.95}),
    (RunningAudit("mu=1", thresholds=[0.0]).update, {"scores": [0.1, 0.2], "member": [0, 1]}),
    (
        mi.EmpiricalTradeOff.from_scores,
        {"out_scores": SCORES[:9], "in_scores": SCORES[9:], "confidence": 0.9, "thresholds": 64},
    ),
    (mi.EmpiricalTradeOff.from_counts, {"thresholds": [0.0, 1.0], **COUNTS, "confidence": 0.9}),
    (
        mi.Histogram,
        {"edges": np.array([0.0, 1.0]), "out": np.array([1, 2, 3]), "inside": np.array([3, 2, 1])},
    ),
    (PLAYED.band, {"alpha": [0.1, 0.2]}),
    (PLAYED.tpr_interval, {"fpr": [0.2, 0.6]}),
    (PLAYED.epsilon_lower_bound, {"delta": 1e-5}),
    (PLAYED.tpr_lower_bound, {"fpr": 0.1}),
    (bands.compare_counts, {**COUNTS, "claim": CURVE, "failure_probability": 0.01, "tolerance": 0.1}),
    (bands.clopper_pearson, {"count": [1, 2], "games": 10, "failure_probability": 0.01}),
    (bands.duembgen_wellner, {"count": [2, 1], "games": 10, "failure_probability": 0.01}),
    (
        tradeoff.PrivacyLossDistribution,
        {"losses": [1.0986, -1.0986], "out_masses": [0.25, 0.75], "in_masses": [0.75, 0.25], "out_only": 0.0},
    ),
    (tradeoff.PiecewiseLinearTradeOff, {"alpha": [0.0, 0.5, 1.0], "beta": [1.0, 0.2, 0.0]}),
    (tradeoff.SampledTradeOff, {"alpha": [0.0, 0.5, 1.0], "beta": [1.0, 0.2, 0.0]}),
    (mi.ApproxDPTradeOff, {"epsilon": 1.0, "delta": 1e-6}),
    (mi.GaussianTradeOff, {"mu": 1.0}),
    (mi.LaplaceTradeOff, {"mu": 1.0}),
    *((getattr(CURVE, name), {"alpha": [0.1, 0.2]}) for name in ("beta", "beta_bounds")),
    *((getattr(CURVE, name), {"fpr": [0.1, 0.2]}) for name in ("tpr_at", "tpr_bounds")),
    (CURVE.epsilon, {"delta": [0.1, 0.2]}),
    (CURVE.delta, {"epsilon": [0.1, 0.2]}),
    (CURVE.bayes_risk, {"prior": [0.1, 0.2]}),
    (
        mi.account,
        {
            "noise_multiplier": 1.0,
            "sampling_rate": 1.0,
            "steps": 1,
            "delta": [1e-5],
            "epsilon": [1.0],
            "fpr": [0.1],
        },
    ),
    (mi.account, {"noise_multiplier": 1.0, "delta": 1e-5, "epsilon": 1.0, "fpr": 0.1}),
    (mi.dpsgd, {"noise_multiplier": 1.0, "sampling_rate": 0.5, "steps": 2}),
    (
        mi.find_noise_multiplier_for_epsilon_delta,
        {"epsilon": 1.0, "delta": 1e-5, "sampling_rate": 1.0, "steps": 1},
    ),
    (mi.Gaussian, {"mean": np.zeros(2), "cov": np.eye(2)}),
    (mi.Bernoulli, {"p": [0.3, 0.6]}),
    (mi.Empirical, {"records": ROWS}),
    (mi.Discrete, {"values": [0.0, 1.0], "probabilities": [0.5, 0.5]}),
    (mi.FixedTarget, {"mechanism": mi.EmpiricalMean(), "data": LAW, "n": 5, "target": [1.0, 2.0]}),
    (mi.ScalarProduct, {"reference": [1.0, 2.0], "target": [1.0, 2.0]}),
    (mi.CovarianceScore, {"moments": LAW, "n": 5, "target": [1.0, 2.0], "record_deviation": 0.5}),
    (nn.mislabelled, {"y": [0, 1, 2], "classes": 3}),
    (
        nn.Descent,
        {"network": NETWORK, "start": START, "x": ROWS, "y": COINS[:12], "batch": 4, "steps": 2, "rate": 0.1},
    ),
    (special.noncentral_chi_square.cdf, {"x": [1.0, 2.0], "d": 3.0, "noncentrality": 1.0}),
    (theory.azize.leakage_score, {"data": LAW, "target": [1.0, 2.0], "n": 5, "record_deviation": 0.5}),
]
EVERYWHERE = [
    bytearray(b"1"),
    {1: 2},
    {1.0},
    object(),
    (x for x in [1.0]),
    scipy.sparse.eye_array(2),
    np.ma.masked,
]
NO_NUMBER = [
    True,
    "1",
    b"1",
    1j,
    np.timedelta64(1, "D"),
    2**53 + 1,
    np.longdouble("0.1"),
    np.nan,
    decimal.Decimal("0.1"),
    *EVERYWHERE,
]
MAY_BE_TRUE = ("member", "scores", "out_scores", "in_scores", "records", "target", "y", "x", "n")


def no_numbers(right: Any) -> list[Any]:
    """Arrays of the shape of a right one that NumPy would read as numbers, or that hold numbers of which none is a float64."""
    right = np.asarray(right, float)
    hidden = np.zeros(right.shape, bool)
    hidden.flat[-1] = True
    entries = [
        "1",
        b"1",
        1j,
        np.datetime64("2020-01-01"),
        np.timedelta64(1, "D"),
        2**53 + 1,
        np.longdouble("0.1"),
        np.nan,
        None,
    ]
    return [
        np.ma.masked_array(right, hidden),
        [*right.tolist()[:-1], np.ma.masked_array(right.tolist()[-1], True)],
        right.view(type("WithUnit", (np.ndarray,), {})),
        *(np.full(right.shape, entry) for entry in [*entries, True]),
        np.full(right.shape, decimal.Decimal("0.1"), object),
        [[1.0], [1.0, 2.0]],
        *EVERYWHERE,
    ]


ARGUMENTS = [
    (call, right, name) for call, right in CALLS for name in right if not isinstance(right[name], str)
]


@pytest.mark.parametrize(
    ("call", "right", "name"), [(c, r, n) for c, r, n in ARGUMENTS if np.asarray(r[n]).dtype.kind in "biuf"]
)
def test_what_is_no_number_is_refused(call: Callable[..., Any], right: dict[str, Any], name: str) -> None:
    call(**right)
    several = np.ndim(right[name]) > 0
    missed = []
    for wrong in no_numbers(right[name]) if several else NO_NUMBER:
        if type(wrong) is int and type(right[name]) is int:
            continue  # a count is no float64
        entries = np.asarray(wrong, object).ravel()
        if (
            type(wrong) in (np.ndarray, bool)
            and all(entry is True for entry in entries)
            and name in MAY_BE_TRUE
        ):
            continue
        try:
            call(**right | {name: wrong})
        except (ValueError, TypeError) as error:
            if not (isinstance(error, ValueError) and name in str(error) and "\n" not in str(error)):
                missed.append((wrong, repr(error)))
        else:
            missed.append((wrong, "accepted"))
    assert not missed
