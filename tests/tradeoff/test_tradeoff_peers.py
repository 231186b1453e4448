"""The algebra against riskcal, dp-accounting and prv-accountant, each within the error that it states or has.

- dp-accounting ("connect the dots"): a pessimistic delta, above the truth by the second order of its grid, 1e-4 here.
- prv-accountant: two-sided bounds of epsilon and delta, of the requested errors.
- riskcal: reads the curve off dp-accounting's atoms without mixing tests, and symmetrises by itself; so it is compared
  with symmetrised curves, and is of no use for laws with isolated atoms, which a test below shows.
"""

import warnings
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from tests.peers import peer

ALPHA = np.array([1e-6, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.8])
EPS = [0.0, 0.5, 1.0, 2.0]


def dp_accounting_pld():
    return peer("dp_accounting.pld.privacy_loss_distribution")


def test_dp_accounting_on_gaussian_and_laplace() -> None:
    pld = dp_accounting_pld()
    for law, curve in (
        (pld.from_gaussian_mechanism(0.8), mi.GaussianTradeOff(1.25)),
        (pld.from_laplace_mechanism(0.5), mi.LaplaceTradeOff(2.0)),
    ):
        for eps in EPS:
            theirs = law.get_delta_for_epsilon(eps)
            low, high = curve.delta_bounds(eps)
            assert theirs - low >= -1e-12
            assert theirs - high < 1e-8
        assert float(curve.epsilon(1e-3)) == pytest.approx(law.get_epsilon_for_delta(1e-3), abs=1e-5)


def test_dp_accounting_on_compositions() -> None:
    pld = dp_accounting_pld()
    theirs = pld.from_laplace_mechanism(2.0).self_compose(12)
    ours = mi.compose(mi.LaplaceTradeOff(0.5), copies=12)
    for eps in EPS:
        low, high = ours.delta_bounds(eps)
        assert float(low) - 1e-12 <= theirs.get_delta_for_epsilon(eps) <= float(high) + 1e-7
    atoms = pld.from_randomized_response(0.4, 2).self_compose(10)
    exact = mi.compose(mi.ApproxDPTradeOff(np.log(4.0)), copies=10)
    for eps in EPS:
        assert (
            0 <= atoms.get_delta_for_epsilon(eps) - float(exact.delta(eps)) + 1e-12 < 1e-4
        )  # atoms off its grid: first order


def events() -> list[tuple[Any, str, float, Any]]:
    """Events of dp_accounting, the neighbours, and how far its RDP or its PLD may be above the truth in epsilon at 1e-5, relative.

    Last, the event that its RDP needs for the same: with REPLACE_ONE it takes a record of norm C for a sensitivity of C, its PLD for 2 C.
    """
    dp = peer("dp_accounting")
    fixed = [
        dp.SampledWithoutReplacementDpEvent(1000, 20, dp.GaussianDpEvent(noise)) for noise in (1.5, 0.75)
    ]
    sampled = dp.PoissonSampledDpEvent(0.02, dp.GaussianDpEvent(0.9))
    return [
        (dp.GaussianDpEvent(1.3), "add_or_remove", 1e-3, None),
        (dp.GaussianDpEvent(1.3), "replace", 1e-3, None),
        (dp.SelfComposedDpEvent(dp.LaplaceDpEvent(4.0), 5), "add_or_remove", 1e-3, None),
        (dp.SelfComposedDpEvent(sampled, 60), "add_or_remove", 1e-3, None),
        (dp.PoissonSampledDpEvent(0.3, dp.LaplaceDpEvent(0.5)), "add_or_remove", 1e-3, None),
        (dp.ComposedDpEvent([sampled, dp.NoOpDpEvent(), dp.SelfComposedDpEvent(dp.GaussianDpEvent(9.0), 3)]), "add_or_remove", 2e-3, None),
        (dp.SelfComposedDpEvent(dp.ComposedDpEvent([sampled, dp.SelfComposedDpEvent(dp.LaplaceDpEvent(9.0), 2)]), 4), "add_or_remove", 2e-3, None),
        (dp.ComposedDpEvent([dp.RandomizedResponseDpEvent(0.6, 5)] * 7), "replace", 1e-3, None),  # its PLDs compose a repeated response once (0.6.0)
        (dp.SelfComposedDpEvent(dp.dp_event.MixtureOfGaussiansDpEvent(1.5, [0.0, 1.0, 2.0], [0.81, 0.18, 0.01]), 20), "add_or_remove", 1e-3, None),  # two records together
        (dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(1.0)), "replace", 1e-3, None),
        (dp.SelfComposedDpEvent(fixed[0], 30), "replace", 0.6, dp.SelfComposedDpEvent(fixed[1], 30)),
        (dp.SingleEpochTreeAggregationDpEvent(2.0, [7, 8, 3]), "remove", 0.2, None),
        (dp.dp_event.DiscreteLaplaceDpEvent(0.5, 2), "add_or_remove", 1e-3, None),
        (dp.dp_event.TruncatedSubsampledGaussianDpEvent(1000, 0.01, 20, 1.0), "add_or_remove", 0.01, None),  # its second part is looser
    ]  # fmt: skip


LONG_EVENTS = (3, 5, 6, 8, 10, 13)
"""Of many steps; sub-sampled steps are compared with the same peer below."""


@pytest.mark.parametrize(
    "which", [pytest.param(k, marks=[pytest.mark.evidence] * (k in LONG_EVENTS)) for k in range(14)]
)
def test_dp_accounting_on_its_events(which: int) -> None:
    dp = peer("dp_accounting")
    relations = dp.NeighboringRelation
    event, neighbours, wide, other = events()[which]
    of = {"replace": relations.REPLACE_ONE, "remove": relations.REPLACE_SPECIAL}
    accountant = (
        peer("dp_accounting.rdp").RdpAccountant if wide > 0.01 else peer("dp_accounting.pld").PLDAccountant
    )
    theirs = accountant(neighboring_relation=of.get(neighbours, relations.ADD_OR_REMOVE_ONE)).compose(
        other or event
    )

    def ours(event: Any) -> tuple[float, float]:
        account = mi.account(event, neighbours=neighbours, delta=1e-5, epsilon=[], fpr=[])
        return account.numbers["epsilon at delta 1e-05"]

    low, high = ours(event)
    assert low * (1.0 - 1e-6) <= theirs.get_epsilon(1e-5) <= high * (1.0 + wide)
    assert ours(dp.ComposedDpEvent([event, event]))[0] > 1.03 * low  # an event more is seen


def test_events_are_read_as_the_schemes_that_they_name_or_refused() -> None:
    dp = peer("dp_accounting")
    assert len(events()) == 14
    noise = dp.GaussianDpEvent(1.0)
    fixed, poisson = dp.SampledWithoutReplacementDpEvent(10, 1, noise), dp.PoissonSampledDpEvent(0.1, noise)
    # of a later version
    attributes = {"event": noise, "num_selected": 1, "num_steps": 10}
    allocated = type("RandomAllocationDpEvent", (), attributes)()
    for event, how, sampling, steps in (
        (fixed, "remove", "fixed_size", 1),
        (poisson, "replace", "poisson", 1),
        (allocated, "add_or_remove", "random_allocation", 10),
    ):
        own = mi.account(event, neighbours=how, fpr=[]).numbers
        same = mi.account(1.0, 0.1, steps, neighbours=how, sampling=sampling, fpr=[]).numbers
        if event is allocated:  # an event in a composition tells no mu
            own["least mu of mu-GDP"] = same["least mu of mu-GDP"]
        assert own == same
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (allocated, {"neighbours": "replace"}, "neighbours is 'replace' with the event RandomAllocationDpEvent"),
        (dp.dp_event.UnsupportedDpEvent(), {}, "is the event UnsupportedDpEvent; proven are "),
        (dp.SampledWithReplacementDpEvent(10, 1, noise), {"neighbours": "replace"}, "neighbours is 'replace' with the event SampledWithReplacementDpEvent"),
        (dp.SampledWithoutReplacementDpEvent(10, 1, dp.LaplaceDpEvent(1.0)), {}, "SampledWithoutReplacementDpEvent of the event LaplaceDpEvent; proven for neighbours 'add_or_remove' is GaussianDpEvent"),
        (noise, {"steps": 2}, "steps is 2 beside an event; with it give only neighbours"),
    ]  # fmt: skip
    for event, how, words in refused:
        with pytest.raises(ValueError, match=words):
            mi.account(event, **how)


def test_dp_accounting_and_riskcal_on_sub_sampled_steps() -> None:
    pld = dp_accounting_pld()
    analysis = peer("riskcal.analysis")
    law = pld.from_gaussian_mechanism(
        1.0, sampling_prob=0.05, value_discretization_interval=1e-4
    ).self_compose(100)
    ours = mi.dpsgd(1.0, 0.05, 100, neighbours="remove")
    both = ours.symmetrized()
    for eps in EPS:
        low, high = both.delta_bounds(eps)
        assert float(low) <= law.get_delta_for_epsilon(eps) <= float(high) + 1e-6
    # riskcal's atoms are 1e-4 apart in the loss: its TPR is short of an atom at most, which matters at rare rates.
    theirs = analysis.get_beta_from_pld(law, ALPHA)
    assert np.allclose(1 - theirs, both.tpr_at(ALPHA), rtol=2e-4, atol=4e-5)
    assert analysis.get_advantage_from_pld(law) == pytest.approx(both.advantage(), abs=1e-6)
    prior = np.array([0.3, 0.5, 0.7])
    # Its prior is that of the world "out".
    assert np.allclose(analysis.get_bayes_risk_from_pld(law, prior), both.bayes_risk(1 - prior), atol=1e-6)


def test_riskcal_in_closed_form() -> None:
    analysis = peer("riskcal.analysis")
    alpha = np.linspace(0.01, 0.99, 25)
    assert np.allclose(
        analysis.get_beta_from_gdp(1.3, alpha), mi.GaussianTradeOff(1.3).beta(alpha), atol=1e-12
    )
    assert analysis.get_advantage_from_gdp(1.3) == pytest.approx(
        mi.GaussianTradeOff(1.3).advantage(), abs=1e-12
    )
    assert analysis.get_advantage_from_adp(1.0, 0.1) == pytest.approx(
        mi.ApproxDPTradeOff(1.0, 0.1).advantage()
    )
    assert np.allclose(analysis.get_beta_from_adp(1.0, 0.1, alpha), mi.ApproxDPTradeOff(1.0, 0.1).beta(alpha))
    prior = np.array([0.1, 0.4, 0.8])
    mine = mi.GaussianTradeOff(1.3).bayes_risk(1 - prior)
    assert np.allclose(analysis.get_bayes_risk_from_gdp(1.3, prior), mine, atol=1e-12)


def test_prv_accountant() -> None:
    prv = peer("prv_accountant")
    variables = peer("prv_accountant.privacy_random_variables")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it overflows on the way
        accountant = prv.PRVAccountant(
            prvs=variables.PoissonSubsampledGaussianMechanism(sampling_probability=0.1, noise_multiplier=1.2),
            max_self_compositions=40,
            eps_error=0.02,
            delta_error=1e-8,
        )
        eps_low, _, eps_high = accountant.compute_epsilon(1e-3, [40])
        low, _, high = accountant.compute_delta(1.0, [40])
    ours = mi.dpsgd(1.2, 0.1, 40, neighbours="remove")
    assert eps_low <= float(ours.epsilon(1e-3)) <= eps_high
    assert low <= float(ours.delta(1.0)) <= high


def test_calibration_of_a_single_release() -> None:
    peer("dp_accounting")
    mechanism = peer("dp_accounting.pld.privacy_loss_mechanism")
    ours = mi.find_noise_multiplier_for_epsilon_delta(1.5, 1e-6)
    assert mechanism.GaussianPrivacyLoss(ours).get_delta_for_epsilon(1.5) == pytest.approx(1e-6, rel=1e-8)


@pytest.mark.slow
def test_riskcal_calibrates_the_same_noise() -> None:
    """Within its own tolerances: 1e-3 in the advantage, or in beta."""
    theirs = peer("riskcal.calibration.dpsgd")
    for name, target, rate, steps, error in (
        ("advantage", (0.2,), 0.05, 100, 5e-3),
        ("err_rates", (0.01, 0.9), 0.2, 10, 2e-2),
    ):
        find = f"find_noise_multiplier_for_{name}"
        ours = getattr(mi, find)(*target, sampling_rate=rate, steps=steps)
        other = getattr(theirs, find)(*target, sample_rate=rate, num_steps=steps)
        assert ours == pytest.approx(other, rel=error)
        assert ours != pytest.approx(1.05 * other, rel=error)
