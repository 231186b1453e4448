"""`mi.audit`: what it shows of each design, and its verdict on a promise."""

import json
import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import mipsim as mi
from mipsim import referee as rf
from mipsim._printed import at_least
from mipsim.audits.designs import repeated_rows
from mipsim.audits.scores import Scores
from mipsim.bands.family_bound import TabulatedCurve
from mipsim.tradeoff.compose import ComposedTradeOff

RNG = np.random.default_rng(0)
COINS = RNG.random(2000) < 0.5
SCORES = RNG.normal(size=2000) + 2.0 * COINS
SETTINGS = {
    "independent": {"runs": 2000},
    "one-run": {},
    "clustered": {"cluster": np.arange(2000) // 4},
}


def audited(design: str, claim: object = None, **other: object) -> mi.Audit:
    if claim is None and not other:
        return plain(design)
    return mi.audit(SCORES, COINS, design=design, claim=claim, confidence=0.95, **SETTINGS[design], **other)  # type: ignore[arg-type]


@cache
def plain(design: str) -> mi.Audit:
    """Many tests look at the same audit, of few draws."""
    return mi.audit(SCORES, COINS, design=design, confidence=0.95, **SETTINGS[design])  # type: ignore[arg-type]


@pytest.mark.parametrize("design", SETTINGS)
def test_bounds_show_themselves(fewer_draws, design: str) -> None:
    item = audited(design)
    assert 0.5 < item.mu_lower_bound < 4.0  # the truth is 2; how often a bound passes it is tested elsewhere
    assert 0.5 < item.epsilon_lower_bound < float(mi.GaussianTradeOff(4.0).epsilon(1e-5))
    assert item.verdict is None
    shown, plain = str(item), json.loads(json.dumps(item.to_dict()))
    assert at_least(item.mu_lower_bound) in shown
    assert item._repr_html_().count("<tr") == len(shown.splitlines()) - 1 < 19
    assert (plain["mu_lower_bound"], plain["claim"]) == (item.mu_lower_bound, None)
    assert plain["scores"]["used"] == (500 if design == "clustered" else 2000)
    if item.curve is not None:
        ends = [plain["band"][name][2] for name in ("fnr_low", "fnr_high")]
        assert ends == [float(end) for end in item.curve.band(0.01)]
    assert (item.advantage_lower_bound is None) == (design == "one-run")


@pytest.mark.evidence
@pytest.mark.parametrize("design", SETTINGS)
@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("mu=0.3", "REFUTED"),
        ("mu=4", "INCONCLUSIVE"),
        ("epsilon=0.3,delta=1e-5", "REFUTED"),
        ("epsilon=20,delta=1e-5", "INCONCLUSIVE"),
        (mi.LaplaceTradeOff(0.3), "REFUTED"),
        (mi.LaplaceTradeOff(5.0), "INCONCLUSIVE"),
    ],
    ids=str,
)
def test_a_promise_is_refuted_or_not_and_never_confirmed(
    fewer_draws, design: str, claim, verdict: str
) -> None:
    item = audited(design, claim)
    assert item.verdict is rf.Verdict(verdict)
    assert item.to_dict()["verdict"] == verdict
    assert re.search(rf"verdict +{verdict}: ", str(item))
    assert ("never confirm" in item.says) == (verdict == "INCONCLUSIVE")


@pytest.mark.parametrize(
    "design", ["independent", "one-run", pytest.param("clustered", marks=pytest.mark.evidence)]
)
def test_a_promise_is_refuted_just_where_the_bound_passes_it(fewer_draws, design: str) -> None:
    mu = audited(design).mu_lower_bound
    assert audited(design, mi.GaussianTradeOff(mu - 1e-6)).verdict is rf.Verdict.REFUTED
    assert audited(design, mi.GaussianTradeOff(mu + 1e-6)).verdict is rf.Verdict.INCONCLUSIVE
    epsilon = audited(design, delta=1e-6).epsilon_lower_bound
    assert audited(design, mi.ApproxDPTradeOff(epsilon - 1e-6, 1e-6)).verdict is rf.Verdict.REFUTED
    assert audited(design, mi.ApproxDPTradeOff(epsilon + 1e-6, 1e-6)).verdict is rf.Verdict.INCONCLUSIVE


def test_the_gap_to_a_gaussian_promise_is_the_bound_of_mu_less_it(fewer_draws) -> None:
    """The same statistic, shifted: by the general family of curves and by the closed form."""
    curve = audited("independent").curve
    assert curve is not None
    for mu in (0.0, 0.7):
        assert curve.gap_lower_bound(mi.GaussianTradeOff(mu)) == pytest.approx(
            curve.mu_lower_bound() - mu, abs=1e-9
        )
    assert curve.gap_lower_bound(mi.GaussianTradeOff(3.0)) == 0.0


@pytest.mark.parametrize("design", ["independent", "one-run"])
def test_a_promise_known_between_bounds_is_refuted_by_its_lower_bound(fewer_draws, design: str) -> None:
    low, high = mi.GaussianTradeOff(6.0), mi.GaussianTradeOff(0.1)
    assert audited(design, mi.BoundedTradeOff(low, high)).verdict is rf.Verdict.INCONCLUSIVE
    assert audited(design, mi.BoundedTradeOff(high, high)).verdict is rf.Verdict.REFUTED


@pytest.mark.parametrize("design", ["independent", "one-run"])
def test_a_composed_promise_is_evaluated_on_a_single_table(
    fewer_draws, design: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DP-SGD: every answer takes a transform."""
    requested: list[int] = []
    known = ComposedTradeOff.enclosure

    def counted(curve: ComposedTradeOff, log_fpr: np.ndarray) -> object:
        requested.append(np.size(log_fpr))
        place, result = len(requested), known(curve, log_fpr)
        del requested[place:]  # of the parts of the curve
        return result

    monkeypatch.setattr(ComposedTradeOff, "enclosure", counted)
    promised = mi.dpsgd(1.0, 0.01, 1000, neighbours="add_or_remove")
    assert audited(design, promised).verdict is rf.Verdict.REFUTED
    assert len(requested) <= 2  # the table, and the picture's threshold


def test_the_table_of_a_composed_promise_is_just_below_it() -> None:
    promised = mi.dpsgd(1.0, 0.01, 1000, neighbours="add_or_remove")
    rates = np.array([1e-9, 1e-4, 0.02, 0.5, 0.99, 0.99999])
    below = promised.probit_beta(rates) - TabulatedCurve.below(promised).probit_beta(rates)
    assert (below >= 0.0).all()
    assert (below <= 0.0025).all()


def test_confidences_beyond_the_calibration(fewer_draws) -> None:
    surer = mi.audit(
        SCORES, COINS, design="independent", runs=2000, claim=mi.LaplaceTradeOff(0.3), confidence=1 - 1e-6
    )
    assert 0.5 < surer.mu_lower_bound < audited("independent").mu_lower_bound
    assert surer.verdict is rf.Verdict.REFUTED


def test_losses_are_reported(fewer_draws) -> None:
    item = mi.audit(-SCORES, COINS, design="independent", runs=2000, confidence=0.95)
    assert item.mu_lower_bound == 0.0
    assert not item.higher_is_in
    assert "mostly speak for" in str(item)
    assert "A sign chosen after the scores were seen makes two audits" in str(item)


@pytest.mark.usefixtures("fewer_draws", "no_screen")
def test_a_picture_needs_a_band() -> None:
    assert len(audited("independent", "mu=1").plot().axes) == 2
    with pytest.raises(ValueError, match="there is no band to draw"):
        audited("one-run").plot()


def test_a_single_score_of_a_world_shows_nothing_and_warns_of_nothing() -> None:
    shown = str(mi.audit(SCORES, np.arange(2000) == 3, design="independent", runs=2000, confidence=0.9))
    assert re.search(r"\n  mu +at least 0\n", shown)


@pytest.mark.parametrize("design", SETTINGS)
def test_counts_of_models_are_scores(fewer_draws, design: str) -> None:
    """As many members as others, with 0 and 1 alone outside and 0, 1, 2 inside, look like labels."""
    member = np.arange(2000) % 8 < 4
    counts = np.where(member, np.arange(2000) // 8 % 3, np.arange(2000) // 8 % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mi.audit(counts, member, design=design, **SETTINGS[design]).in_scores == 1000  # type: ignore[arg-type]


@pytest.mark.parametrize("design", ["one-run", "independent"])
@pytest.mark.parametrize("times", [2, 3])
def test_rows_that_were_pasted_twice_are_refused(design: str, times: int) -> None:
    """100 canaries that leak nothing, 200 rows: 37 of 200 audits at 95% were wrong. Some of the rows are a warning."""
    with pytest.raises(
        ValueError, match=rf"repeat the score of another, {times} times each as in rows that were pasted"
    ):
        mi.audit(
            np.tile(SCORES[:100], times),
            np.tile(COINS[:100], times),
            design=design,
            runs=100 * times if design == "independent" else None,
        )
    names = {
        "runs" if design == "independent" else "records": np.arange(100 * times)
    }  # which overrule the estimate
    mi.audit(np.tile(SCORES[:100], times), np.tile(COINS[:100], times), design=design, **names)  # type: ignore[arg-type]
    some = np.r_[:200, :12]
    with pytest.warns(UserWarning, match="12 rows repeat the score and the world of another"):
        mi.audit(SCORES[some], COINS[some], design=design, runs=212 if design == "independent" else None)


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 4])
def test_rounded_scores_are_not_taken_for_rows_pasted_twice(digits: int) -> None:
    """Of any density and number, 1,000 audits in all: none is refused, where 1e-6 of each is estimated; warnings where nothing leaks in few."""
    rng, warned = np.random.default_rng(digits), 0
    for _ in range(200):
        n = int(rng.integers(100, 3000))
        values = np.round(rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0], n), digits) + 0.0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert not repeated_rows(Scores(values, rng.random(n) < 0.5))
        warned += len(caught)
    assert warned <= binom.isf(1e-9, 200, 1e-3)


def test_several_scores_of_a_record_in_one_run_are_refused() -> None:
    """200 records of 2 scores; as canaries they were wrong in 24 of 1,000 audits at 99.9%. The line that settles it does."""
    frame = pd.DataFrame(
        {"score": SCORES[:400], "member": np.repeat(COINS[:200], 2), "record": np.repeat(np.arange(200), 2)}
    )
    with pytest.raises(
        ValueError,
        match=r'400 scores are of 200 records, .*: frame\.groupby\("record", as_index=False\)\.mean',
    ):
        mi.audit(frame, design="one-run")
    assert mi.audit(frame.groupby("record", as_index=False).mean(), design="one-run").used == 200


def test_a_run_that_is_named_is_one_run() -> None:
    named = mi.audit(SCORES, COINS, cluster=["run 7"] * 2000, design="one-run", confidence=0.95)
    assert named.mu_lower_bound == audited("one-run").mu_lower_bound
    with pytest.raises(ValueError, match=r'2,000 scores are in 1 cluster, which .*; design "one-run" is for'):
        mi.audit(SCORES, COINS, cluster=["run 7"] * 2000, design="independent")


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_epsilon_of_a_gaussian_is_left_out_where_it_is_infinite(delta: float) -> None:
    result = mi.audit(SCORES, COINS, design="independent", runs=SCORES.size, delta=delta)
    shown, held = str(result), json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (held["epsilon_if_gdp"] is None) == (held["why_no_epsilon_if_gdp"] is not None) == (delta == 0.0)
    assert ("only if the mechanism's curve is Gaussian" in shown) == (delta > 0.0)
    assert "inf" not in shown
