"""What accountants and calibrations document, held against enclosures of the true epsilon, delta, advantage or error rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

import mipsim as mi
from verify.tools.formulas import normalised_noise
from verify.tools.packages import module
from verify.tools.trial import Enclosed, Trial

Ends = Callable[[], tuple[float, float]]

SETTINGS: tuple[tuple[float, float, int, float], ...] = (
    (0.8, 0.01, 1000, 1e-5),
    (2.0, 0.05, 500, 1e-6),
    (0.5, 0.001, 2000, 1e-5),
    (1.0, 0.5, 20, 1e-5),
)
"""DP-SGD with Poisson samples: noise multiplier, sampling rate, steps, delta."""


def _named(sigma: float, rate: float, steps: int, delta: float) -> str:
    return f"sigma={sigma:g}, q={rate:g}, T={steps}, delta={delta:g}"


def _poisson(sigma: float, rate: float, steps: int, delta: float) -> Ends:
    """Epsilon of DP-SGD with Poisson samples, the worse of adding and removing a record."""
    return lambda: mi.dpsgd(sigma, rate, steps, neighbours="add_or_remove").epsilon_bounds(delta)


def poisson_epsilon(tool: Callable[[float, float, int, float], float], side: str = "upper") -> Enclosed:
    """Hold an accountant's epsilon of DP-SGD against the truth at `SETTINGS`.
    `tool`: (noise multiplier, sampling rate, steps, delta) -> epsilon; `side`: "upper" or "lower", which bound it claims
    to be.
    """
    return Enclosed(
        {_named(*item): ((lambda item=item: tool(*item)), _poisson(*item)) for item in SETTINGS},
        "upper" if side == "upper" else "lower",
    )


def replaced(sigma: float, rate: float, delta: float) -> float:
    """Epsilon of a single step on a sample of a fixed size where a record is replaced: N(0) and N(+1) against N(0) and N(-1).

    The likelihood ratio grows with the output, so that delta(epsilon) is the excess of the two tails above a point; a root of it is
    right to some 1e-12.

    `sigma`: noise over the clipping norm, > 0; `rate`: size of the sample over that of the data, in (0, 1]; `delta`: in
    (0, 1).

    >>> abs(replaced(2.0, 1.0, 1e-5) - mi.GaussianTradeOff(1.0).epsilon(1e-5)) < 1e-4
    True
    """

    def tail(x: float, shift: float) -> float:
        return rate * float(ndtr((shift - x) / sigma)) + (1.0 - rate) * float(ndtr(-x / sigma))

    def log_ratio(x: float) -> float:
        up, down = (math.log(rate) + s * x / sigma**2 - 0.5 / sigma**2 for s in (1.0, -1.0))
        rest = math.log1p(-rate) if rate < 1.0 else -math.inf
        return float(np.logaddexp(up, rest) - np.logaddexp(down, rest))

    def excess(x: float) -> float:
        return tail(x, 1.0) - math.exp(log_ratio(x)) * tail(x, -1.0) - delta

    root: Any = brentq(excess, 0.0, 40.0 * sigma, xtol=1e-13)
    return log_ratio(root)


# dp_accounting


def _event(sigma: float, rate: float, steps: int) -> Any:
    event = module("dp_accounting.dp_event")
    return event.SelfComposedDpEvent(event.PoissonSampledDpEvent(rate, event.GaussianDpEvent(sigma)), steps)


def _accountant(kind: str, relation: str = "ADD_OR_REMOVE_ONE") -> Any:
    family, neighbours = module(f"dp_accounting.{kind}"), module("dp_accounting").NeighboringRelation
    return getattr(family, f"{kind.capitalize() if kind == 'rdp' else 'PLD'}Accountant")(
        neighboring_relation=neighbours[relation]
    )


def _added(kind: str) -> Callable[[float, float, int, float], float]:
    return lambda sigma, rate, steps, delta: (
        _accountant(kind).compose(_event(sigma, rate, steps)).get_epsilon(delta)
    )


def _buckets(pessimistic: bool) -> Callable[[float, float, int, float], float]:
    def epsilon(sigma: float, rate: float, steps: int, delta: float) -> float:
        law = module("dp_accounting.pld.privacy_loss_distribution").from_gaussian_mechanism(
            sigma, sampling_prob=rate, pessimistic_estimate=pessimistic, use_connect_dots=False
        )
        return law.self_compose(steps).get_epsilon_for_delta(delta)

    return epsilon


def _replace_one(kind: str, event: Callable[[Any], Any], delta: float = 1e-5) -> Callable[[], float]:
    return lambda: (
        _accountant(kind, "REPLACE_ONE").compose(event(module("dp_accounting.dp_event"))).get_epsilon(delta)
    )


def _released(sigma: float, steps: int) -> Callable[[Any], Any]:
    return lambda event: event.SelfComposedDpEvent(event.GaussianDpEvent(sigma), steps)


def _fixed_size(sigma: float, rate: float) -> Callable[[Any], Any]:
    return lambda event: event.SampledWithoutReplacementDpEvent(
        1000, round(1000 * rate), event.GaussianDpEvent(sigma)
    )


def _replaced_released(kind: str) -> Enclosed:
    return Enclosed(
        {
            f"sigma={s:g}, T={t}": (
                _replace_one(kind, _released(s, t)),
                lambda s=s, t=t: mi.GaussianTradeOff(2.0 * math.sqrt(t) / s).epsilon_bounds(1e-5),
            )
            for s, t in ((2.0, 10), (4.0, 1), (1.0, 1))
        }
    )


_EVENT = "If the norms of the values are bounded ||v_i|| <= C, the noise_multiplier is defined as s / C. (dp_event.py:268)"
_AS_BEFORE = "the same in the main of 6 August 2026, commit b5b0286"

DP_ACCOUNTING = tuple(
    Trial(tool="dp_accounting", package="dp-accounting==0.6.*", **entry)
    for entry in (
        {
            "name": "dp-accounting-rdp-replace-one",
            "call": "RdpAccountant(neighboring_relation=REPLACE_ONE) of GaussianDpEvent",
            "claim": "Privacy accountant that uses Renyi differential privacy.",
            "place": f"rdp/rdp_privacy_accountant.py:981; {_EVENT}",
            "restricted_by": "An accountant's own helper speaks of 'the l2-sensitivity of the function' (rdp_privacy_accountant.py:417), the "
            "event of the norm of a record; its PLDAccountant takes the event's meaning and gives 17.86 in the first case.",
            "repaired": _AS_BEFORE,
            "evidence": _replaced_released("rdp"),
        },
        {
            "name": "dp-accounting-pld-replace-one",
            "call": "PLDAccountant(neighboring_relation=REPLACE_ONE) of GaussianDpEvent",
            "claim": "Privacy accountant that uses Privacy Loss Distributions.",
            "place": f"pld/pld_privacy_accountant.py:31; {_EVENT}",
            "evidence": _replaced_released("pld"),
        },
        {
            "name": "dp-accounting-rdp-fixed-size",
            "call": "RdpAccountant(neighboring_relation=REPLACE_ONE) of SampledWithoutReplacementDpEvent",
            "claim": "Sampling w/o replacement: Sample a uniformly random subset of size m = q*n. [...] ``Replace one data point'' version of "
            "differential privacy, i.e., n is considered public information.",
            "place": f"rdp/rdp_privacy_accountant.py:406; {_EVENT}",
            "restricted_by": "noise_multiplier: The ratio of the standard deviation of the Gaussian noise to the l2-sensitivity of the function "
            "to which it is added. (rdp_privacy_accountant.py:417, a private helper; the event says otherwise). In the worst case the sample is "
            "all of the data; at sigma = 1 and q = 0.1 the number is above the truth.",
            "repaired": _AS_BEFORE,
            "evidence": Enclosed(
                {
                    f"sigma={s:g}, q={q:g}, T=1": (
                        _replace_one("rdp", _fixed_size(s, q)),
                        (lambda s=s, q=q: (replaced(s, q, 1e-5), replaced(s, q, 1e-5))),
                    )
                    for s, q in ((2.0, 1.0), (2.0, 0.5), (1.0, 0.1))
                }
            ),
        },
        {
            "name": "dp-accounting-rdp-poisson",
            "call": "RdpAccountant() of PoissonSampledDpEvent",
            "claim": "Privacy accountant that uses Renyi differential privacy.",
            "place": "rdp/rdp_privacy_accountant.py:981",
            "evidence": poisson_epsilon(_added("rdp")),
        },
        {
            "name": "dp-accounting-pld-poisson",
            "call": "PLDAccountant() of PoissonSampledDpEvent",
            "claim": "Privacy accountant that uses Privacy Loss Distributions.",
            "place": "pld/pld_privacy_accountant.py:31",
            "evidence": poisson_epsilon(_added("pld")),
        },
        {
            "name": "dp-accounting-pessimistic",
            "call": "from_gaussian_mechanism(pessimistic_estimate=True, use_connect_dots=False)",
            "claim": "whether the rounding is done in such a way that the resulting epsilon-hockey stick divergence computation gives an upper "
            "estimate to the real value",
            "place": "pld/privacy_loss_distribution.py:893",
            "evidence": poisson_epsilon(_buckets(True)),
        },
        {
            "name": "dp-accounting-optimistic",
            "call": "from_gaussian_mechanism(pessimistic_estimate=False, use_connect_dots=False)",
            "claim": "whether the rounding is done in such a way that the resulting epsilon-hockey stick divergence computation gives an upper "
            "estimate to the real value",
            "place": "pld/privacy_loss_distribution.py:893; False is the optimistic estimate",
            "evidence": poisson_epsilon(_buckets(False), "lower"),
        },
    )
)

# riskcal


def _riskcal_beta(sigma: float, rate: float, steps: int, grid: float) -> float:
    find = module("riskcal.calibration.dpsgd").get_beta_for_dpsgd
    return float(find(sigma, rate, steps, 0.1, grid_step=grid))


def _riskcal_noise(target: float) -> tuple[float, float]:
    find = module("riskcal.calibration.dpsgd").find_noise_multiplier_for_advantage
    noise = find(target, sample_rate=0.01, num_steps=100, grid_step=1e-3)
    return mi.dpsgd(noise, 0.01, 100).advantage_bounds()


RISKCAL = tuple(
    Trial(tool="riskcal", package="riskcal==1.5.*", **entry)
    for entry in (
        {
            "name": "riskcal-advantage",
            "call": "calibration.dpsgd.get_advantage_for_dpsgd",
            "claim": "Compute advantage for DP-SGD with given parameters.",
            "place": "calibration/dpsgd.py:331",
            "evidence": Enclosed(
                {
                    f"sigma={s:g}, q={q:g}, T={t}": (
                        (
                            lambda s=s, q=q, t=t: module("riskcal.calibration.dpsgd").get_advantage_for_dpsgd(
                                s, q, t
                            )
                        ),
                        (lambda s=s, q=q, t=t: mi.dpsgd(s, q, t).advantage_bounds()),
                    )
                    for s, q, t, _ in SETTINGS
                }
            ),
        },
        {
            "name": "riskcal-beta",
            "call": "calibration.dpsgd.get_beta_for_dpsgd",
            "claim": "Compute beta (FNR) for DP-SGD at given alpha (FPR). [...] we say (P, Q) is a discrete-valued dominating pair if, for all "
            "0 <= alpha <= 1, T(P,Q)(alpha) <= T(M(D), M(D'))(alpha)",
            "place": "calibration/dpsgd.py:355; analysis/_plrv.py:16",
            "restricted_by": "The second half defines what the analysis module is given; no line says outright that beta is never too high. At the "
            "default grid_step=1e-4 it is too high by at most 1e-4 in the four settings, at 2e-5 by 0.0028 in the one that was tried.",
            "repaired": "the same in the main of 13 March 2026, commit 108104a",
            "evidence": Enclosed(
                {
                    f"sigma={s:g}, q={q:g}, T={t}, alpha=0.1, grid_step={grid:g}": (
                        (lambda s=s, q=q, t=t, grid=grid: _riskcal_beta(s, q, t, grid)),
                        (
                            lambda s=s, q=q, t=t: mi.dpsgd(s, q, t, neighbours="add_or_remove").beta_bounds(
                                0.1
                            )
                        ),
                    )
                    for s, q, t, grid in (
                        *((s, q, t, 1e-4) for s, q, t, _ in SETTINGS),
                        (0.5, 0.001, 2000, 2e-5),
                    )
                },
                "lower",
            ),
        },
        {
            "name": "riskcal-calibration",
            "call": "calibration.dpsgd.find_noise_multiplier_for_advantage(grid_step=1e-3)",
            "claim": "Finds minimum noise_multiplier such that advantage ≤ target.",
            "place": "calibration/dpsgd.py:139",
            "restricted_by": "advantage_tol: Convergence tolerance for advantage. (calibration/dpsgd.py:146); Calibrate DP-SGD noise to target "
            "advantage (legacy interface). (:133). The verdict is about the advantage; how far the noise is from the least, tightness shows.",
            "evidence": Enclosed(
                {
                    f"target={target:g}, q=0.01, T=100": (
                        (lambda target=target: target),
                        (lambda target=target: _riskcal_noise(target)),
                    )
                    for target in (0.02, 0.1)
                }
            ),
        },
    )
)

# prv-accountant


def _prv(end: int) -> Callable[[float, float, int, float], float]:
    def epsilon(sigma: float, rate: float, steps: int, delta: float) -> float:
        prv = module("prv_accountant")
        law = prv.PoissonSubsampledGaussianMechanism(noise_multiplier=sigma, sampling_probability=rate)
        accountant = prv.PRVAccountant(
            law, eps_error=0.1, delta_error=delta / 1000.0, max_self_compositions=steps
        )
        return accountant.compute_epsilon(delta, [steps])[end]

    return epsilon


PRV = tuple(
    Trial(
        tool="prv-accountant",
        package="prv-accountant==0.2.*",
        name=f"prv-{side}",
        call=f"PRVAccountant(eps_error=.1).compute_epsilon, {side} bound",
        claim="Return lower bound for $\\varepsilon$, estimate for $\\varepsilon$ and upper bound for $\\varepsilon$",
        place="prv_accountant/accountant.py:130",
        evidence=poisson_epsilon(_prv(end), side),
    )
    for side, end in (("upper", 2), ("lower", 0))
)

# Opacus


def _opacus(kind: str, name: str) -> Callable[[float, float, int, float], float]:
    def epsilon(sigma: float, rate: float, steps: int, delta: float) -> float:
        accountant = getattr(module(f"opacus.accountants.{kind}", "opacus"), name)()
        accountant.history = [(sigma, rate, steps)]
        return float(accountant.get_epsilon(delta))

    return epsilon


_SPENT = "Return privacy budget (epsilon) expended so far."

OPACUS = tuple(
    Trial(tool="Opacus", package="opacus==1.6.*", **entry)
    for entry in (
        {
            "name": "opacus-rdp",
            "call": "RDPAccountant().get_epsilon(delta)",
            "claim": _SPENT,
            "place": "opacus/accountants/rdp.py:77",
            "evidence": poisson_epsilon(_opacus("rdp", "RDPAccountant")),
        },
        {
            "name": "opacus-prv",
            "call": "PRVAccountant().get_epsilon(delta)",
            "claim": "return upper bound as we want guarantee, not just estimate",
            "place": "opacus/accountants/prv.py:105",
            "evidence": poisson_epsilon(_opacus("prv", "PRVAccountant")),
        },
        {
            "name": "opacus-gdp",
            "call": "GaussianAccountant().get_epsilon(delta)",
            "claim": _SPENT,
            "place": "opacus/accountants/gdp.py:49",
            "restricted_by": "GDP accounting is experimental and can underestimate privacy expenditure. Proceed with caution. (gdp.py:24, a warning "
            "at each use)",
            "evidence": poisson_epsilon(_opacus("gdp", "GaussianAccountant")),
        },
    )
)

# autodp


def _autodp(name: str, *arguments: Any) -> Any:
    return getattr(module("autodp.mechanism_zoo"), name)(*arguments)


AUTODP = tuple(
    Trial(tool="autodp", package="autodp==0.2.3*", **entry)
    for entry in (
        {
            "name": "autodp-gaussian",
            "call": "ExactGaussianMechanism(sigma).approxDP(1e-5)",
            "claim": "obtain provable DP guarantees",
            "place": "README (package description)",
            "evidence": Enclosed(
                {
                    f"sigma={s:g}": (
                        (lambda s=s: _autodp("ExactGaussianMechanism", s).approxDP(1e-5)),
                        (lambda s=s: mi.GaussianTradeOff(1.0 / s).epsilon_bounds(1e-5)),
                    )
                    for s in (0.5, 1.0, 4.0)
                }
            ),
        },
        {
            "name": "autodp-poisson",
            "call": "SubsampleGaussianMechanism(prob, sigma, coeff).approxDP(delta)",
            "claim": "obtain provable DP guarantees [...] Poisson subsampled Gaussian mechanism.",
            "place": "README; mechanism_zoo.py:278",
            "evidence": poisson_epsilon(
                lambda sigma, rate, steps, delta: _autodp(
                    "SubsampleGaussianMechanism", {"prob": rate, "sigma": sigma, "coeff": steps}
                ).approxDP(delta)
            ),
        },
    )
)

# A pattern of training code


def _accounted(records: int, rate: float, sigma: float) -> Callable[[], float]:
    return lambda: mi.dpsgd(sigma, rate, 1, neighbours="add_or_remove").epsilon(1e-5)


PATTERN = (
    Trial(
        name="pattern-floor-of-batch",
        tool="a pattern of training code",
        package="",
        by_formula=True,
        call="(sum of clipped gradients + noise) / floor(q n), n with the record or without it",
        claim="The epsilon of the accountant for noise multiplier sigma, rate q and T steps.",
        place="common practice; no tool is meant",
        restricted_by="A divisor that is fixed before, or that does not depend on n, has the accountant's epsilon.",
        evidence=Enclosed(
            {
                f"n={n}, q=0.01, sigma=1, d={d}, T=1": (
                    _accounted(n, 0.01, 1.0),
                    (lambda n=n, d=d: (normalised_noise(n, 0.01, 1.0, d), math.inf)),
                )
                for n, d in ((1000, 1000), (1000, 2000))
            }
        ),
    ),
)

ACCOUNTANTS: tuple[Trial, ...] = (*DP_ACCOUNTING, *RISKCAL, *PRV, *OPACUS, *AUTODP, *PATTERN)
