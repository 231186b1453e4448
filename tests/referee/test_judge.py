"""The judge: every kind of truth, every kind of statement, each with what it must refute."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee.values import Shifted, no_tradeoff, read
from mipsim.tradeoff import GaussianTradeOff

G = mi.GaussianTradeOff


def statement(kind, claimed, truth, **more):
    domain = more.pop("domain", {"mu": rf.Real(0.1, 3.0)})
    return rf.Statement(
        name="s", says="so", source="here", kind=kind, domain=domain, claimed=claimed, truth=truth, **more
    )


def verdict(*args, at=None, **more) -> str:
    result = rf.judge(statement(*args, **more), at=at or [{"mu": 1.0}])
    assert not result.failures, result.failures
    return str(result.verdict)


C, R, OPEN = "CONFIRMED", "REFUTED", "INCONCLUSIVE"
BETWEEN, WIDE = (
    mi.BoundedTradeOff(G(1.02), G(0.98)),
    mi.BoundedTradeOff(G(1.0), G(0.99), rounding=1e-3, sideways=1e-3),
)


def off(share: float, shift: float):
    return lambda mu: G(mu + share * shift)


VERDICTS = [
    # kind, claimed, truth, mu, verdict: a bound has no tolerance, an equality the smaller of two
    *((rf.Bound(), G, off(1.0, shift), 1.0, verdict) for shift, verdict in ((0.0, C), (-5e-6, C), (1e-5, R), (1e-3, R), (0.1, R))),
    *((rf.Equality(), G, off(share, shift), mu, verdict) for mu, shift in ((0.2, 0.004), (3.0, 0.02)) for share, verdict in ((0.9, C), (1.1, R))),
    (rf.Equality(0.1), G, off(1.0, 0.09), 1.0, C),
    # Numbers, with their errors.
    *((rf.Bound(), lambda mu: 1.0, lambda mu, x=x: x, 1.0, verdict) for x, verdict in ((1.0, C), (1.0 + 1e-6, R), (rf.Number(1.01, error=0.1), OPEN))),
    *((rf.Equality(), lambda mu: 1.0, lambda mu, x=x: x, 1.0, verdict) for x, verdict in ((1.019, C), (1.021, R), (rf.Number(1.019, error=0.01), OPEN))),
    *((rf.Equality(), lambda mu, c=c: c, lambda mu, x=x: x, 1.0, verdict) for c, x, verdict in ((5.1, 5.2, C), (-5.1, -4.99, R), (5.1, rf.Number(5.2, error=0.1), OPEN))),
    (rf.Ordering(), lambda mu: math.inf, lambda mu: 2.0, 1.0, C),
    # A curve between two is known no better than they say; a wide bound does not shrink the rates that are judged.
    *((rf.Bound(floor=1e-3), G, lambda mu: BETWEEN, mu, verdict) for mu, verdict in ((1.05, C), (0.95, R), (1.0, OPEN))),
    # What is known to a share of the claim's own mu decides, as of an equality.
    *((rf.Bound(floor=1e-3), G, lambda mu: mi.BoundedTradeOff(G(mu + 2e-4), G(mu - 2e-4)), mu, verdict) for mu, verdict in ((1.0, C), (0.1, OPEN))),
    *((kind, lambda mu, c=c: G(c), lambda mu: WIDE, 1.0, verdict) for kind in (rf.Equality(), rf.Bound()) for c, verdict in ((1.0, OPEN), (0.9, R))),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "claimed", "truth", "mu", "expected"), VERDICTS)
def test_the_verdict_at_a_point(kind, claimed, truth, mu: float, expected: str) -> None:
    assert verdict(kind, claimed, truth, at=[{"mu": mu}]) == expected


def test_a_single_refuted_point_refutes_and_all_confirm() -> None:
    def known(mu: float) -> rf.Number:
        return rf.Number(mu, error=0.5 if mu == 0.9 else 0.0)

    for places, expected in (((0.1, 0.2), C), ((0.1, 1.5), R), ((0.1, 0.9), OPEN), ((0.9, 1.5), R)):
        assert verdict(rf.Bound(), lambda mu: 1.0, known, at=[{"mu": x} for x in places]) == expected


def test_a_bound_is_judged_at_rare_rates_too() -> None:
    class Leaky(mi.AbstractTradeOff):
        """With probability 1e-6 the output shows its world."""

        def enclosure(self, log_fpr):
            def both(fpr):
                fnr, tpr = ndtr(ndtri(1.0 - fpr) - 1.0), ndtr(1.0 - ndtri(1.0 - fpr))
                return (1 - 1e-6) * fnr, 1e-6 + (1 - 1e-6) * tpr

            return mi.bounds_from_rates(both, log_fpr, relative=1e-11)

    # At FPR 1e-4 this is 1e-3 probits, at 1e-9 it is two.
    result = rf.judge(statement(rf.Bound(), lambda mu: G(1.01 * mu), lambda mu: Leaky()), at={"mu": 1.0})
    assert str(result.verdict) == "REFUTED"
    assert result.gap > 0.1
    at_most = statement(rf.Bound(floor=1e-4), lambda mu: G(1.01 * mu), lambda mu: Leaky())
    assert str(rf.judge(at_most, at={"mu": 1.0}).verdict) == "CONFIRMED"


@pytest.mark.parametrize(
    ("kind", "truth", "expected"),
    [
        (rf.Bound(), rf.Number(1.1, unknown="above"), "REFUTED"),
        (rf.Bound(), rf.Number(0.5, unknown="above"), "INCONCLUSIVE"),
        (rf.Bound(), rf.Number(1.1, error=0.2, unknown="above"), "INCONCLUSIVE"),
        (rf.Bound(), rf.Number(-math.inf, unknown="above"), "INCONCLUSIVE"),
        (rf.Bound(), rf.Number(0.9, unknown="below"), "CONFIRMED"),
        (rf.Bound(), rf.Number(0.9, error=0.2, unknown="below"), "INCONCLUSIVE"),
        (rf.Bound(), rf.Number(1.1, unknown="below"), "INCONCLUSIVE"),
        (rf.Equality(), rf.Number(1.1, unknown="above"), "REFUTED"),
        (rf.Equality(), rf.Number(1.0, unknown="above"), "INCONCLUSIVE"),
        (rf.Equality(), rf.Number(0.5, unknown="above"), "INCONCLUSIVE"),
        (rf.Equality(), rf.Number(0.9, unknown="below"), "REFUTED"),
        (rf.Equality(), rf.Number(1.5, unknown="below"), "INCONCLUSIVE"),
    ],
)
def test_a_single_bound_decides_in_its_direction_only(kind, truth, expected: str) -> None:
    assert verdict(kind, lambda mu: 1.0, lambda mu: truth) == expected
    if isinstance(kind, rf.Bound):  # a hunt looks at the same points by the same rule
        result = rf.hunt(statement(kind, lambda mu: 1.0, lambda mu: truth), "8 probes", progress=False)
        assert (str(result.verdict) == "REFUTED") == (expected == "REFUTED")
    low, high = rf.judge(statement(kind, lambda mu: 1.0, lambda mu: truth), at={"mu": 1.0}).interval
    assert (low == -math.inf) if truth.unknown == "below" else (high == math.inf)
    claimed = rf.Number(
        -truth.value, truth.error, unknown={"above": "below", "below": "above"}[truth.unknown]
    )
    if isinstance(kind, rf.Bound):  # a claim that is known from the other side is the same gap
        assert verdict(kind, lambda mu: claimed, lambda mu: -1.0) == expected


def noisy_mean(sigma: float, d: int = 2):
    data = mi.Gaussian(0.0, 1.0, d=d)
    mechanism = mi.GaussianNoise(mi.EmpiricalMean(), sigma)
    game = mi.FixedTarget(mechanism, data, n=10, target=[2.0] + [0.0] * (d - 1))
    return game, mi.LikelihoodRatio(mechanism, data, 10), mi.CovarianceScore(data, 10)


@pytest.mark.evidence
def test_a_game_is_judged_by_its_exact_law() -> None:
    game, best, linear = noisy_mean(1.0)
    for attack, confirmed in ((best, "CONFIRMED"), (linear, "INCONCLUSIVE")):
        result = rf.judge(
            statement(rf.Bound(), lambda mu: G(5.0), lambda mu, a=attack: (game, a)), at={"mu": 1.0}
        )
        assert result.worst is not None
        assert (str(result.verdict), result.worst.games, result.worst.route) == (confirmed, 0, "exact law")
        weak = statement(rf.Bound(), lambda mu: G(0.2), lambda mu, a=attack: (game, a))
        assert str(rf.judge(weak, at={"mu": 1.0}).verdict) == "REFUTED"
    assert "a stronger attacker may exist" in str(result)
    exact = game.exact(linear)
    same = statement(rf.Equality(), lambda mu: exact, lambda mu: (game, linear))
    assert str(rf.judge(same, at={"mu": 1.0}).verdict) == "CONFIRMED"


@pytest.mark.filterwarnings("ignore:.* at the end of mi.budget")
def test_a_point_that_takes_too_long_is_not_judged() -> None:
    """Neither by games, as if no law were known, nor as a function that changes; a composition has bounds at once."""
    data = mi.Bernoulli(np.linspace(0.1, 0.9, 30))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=np.ones(30))
    attack = mi.LikelihoodRatio(game.mechanism, data, 100)
    for truth in (lambda mu: (game, attack), lambda mu: mi.dpsgd(mu, 0.01, 100)):
        result = rf.judge(
            statement(rf.Bound(), lambda mu: G(3.0), truth), at=[{"mu": 1.0}], point_seconds=1e-9
        )
        assert not result.failures
        assert str(result.verdict) == "INCONCLUSIVE"
        assert result.judged[0].games == 0


@pytest.mark.evidence
def test_a_game_without_a_law_is_judged_by_games() -> None:
    game, _, _ = noisy_mean(1.0)
    played = (game, lambda target, output: output[0] ** 3)
    exact = game.exact(noisy_mean(1.0)[2])  # a score that orders outputs alike
    truth = statement(rf.Equality(0.1), lambda mu: exact, lambda mu: played)
    result = rf.judge(truth, at={"mu": 1.0}, games=100_000)
    assert result.worst is not None
    route = "games, your functions in float32"
    assert (str(result.verdict), result.worst.games, result.worst.route) == ("CONFIRMED", 100_000, route)
    low, high = result.interval
    assert low < result.gap < high
    wrong = statement(rf.Bound(), lambda mu: G(0.2), lambda mu: played)
    refuted = rf.judge(wrong, at={"mu": 1.0}, games=100_000)
    assert str(refuted.verdict) == "REFUTED"
    assert refuted.worst is not None
    assert "No exact law is known" in result.worst.detail
    assert "No exact law is known" not in refuted.worst.detail
    assert rf.gap_in(result, "advantage").endswith("cannot be given: the truth is played, not computed")


def samplers(mu: float):
    return (
        lambda generator, games: generator.standard_normal(games),
        lambda generator, games: mu + generator.standard_normal(games),
    )


@pytest.mark.parametrize(
    ("kind", "claimed", "truth", "games", "expected"),
    [
        # 0.05 probits off is equal to 0.1, and 0.15 is not: a red test has probability 1e-9, since the interval is half as wide as what is left.
        (rf.Equality(0.1, floor=0.05), G, lambda mu: samplers(mu + 0.05), 500_000, C),
        (rf.Equality(0.1, floor=0.05), G, lambda mu: samplers(mu + 0.15), 500_000, R),
        (rf.Ordering(), lambda mu: samplers(mu / 1.5), samplers, 100_000, R),
        pytest.param(rf.Ordering(), lambda mu: samplers(1.5 * mu), samplers, 100_000, C, marks=pytest.mark.evidence),
    ],
)  # fmt: skip
def test_a_pair_of_samplers_is_sampled(kind, claimed, truth, games: int, expected: str) -> None:
    result = rf.judge(statement(kind, claimed, truth), at={"mu": 1.0}, games=games, confidence=1 - 1e-6)
    assert str(result.verdict) == expected


def test_a_refutation_where_the_deciding_counts_are_too_few_has_a_gap() -> None:
    """Worlds twelve deviations apart: at the deciding threshold a count is 0, and the end of its interval stands for the gap."""
    far = rf.judge(
        statement(rf.Bound(), lambda mu: G(mu), lambda mu: samplers(12.0 * mu)),
        at=[{"mu": 1.0}],
        games=20_000,
    )
    result = far.judged[0]
    assert str(result.verdict) == "REFUTED"
    assert result.gap == min(result.interval, key=abs) > 1.0


@pytest.mark.slow
def test_true_bounds_by_draws_are_not_refuted() -> None:
    """200 judgements at confidence 0.99: more than 9 false refutations have probability below 1e-4 (binomial, 2 expected)."""
    equal = statement(rf.Bound(floor=1e-4), lambda mu: G(mu), samplers)
    wrong = sum(
        str(rf.judge(equal, at={"mu": 1.0}, games=2000, seed=seed, confidence=0.99).verdict) == "REFUTED"
        for seed in range(200)
    )
    assert wrong <= 9


LIMIT = {"n": rf.Whole(1, math.inf, hunt_to=1e8, log=True), "c": rf.Real(0.5, 2.0)}


def test_sizes_that_depend_on_the_point_are_all_that_a_limit_asks_for() -> None:
    """The domain may name a size that no law reaches."""
    requested = []

    def claimed(n, c):
        requested.append(n)
        return G(1.0)

    limit = rf.Limit("n", sizes=lambda **at: [int(100 * at["c"]) * 2**k for k in range(8)])
    domain = LIMIT | {"n": rf.Whole(2, 1e12, log=True)}
    result = rf.judge(statement(limit, claimed, lambda n, c: G(1.0 + 1 / n), domain=domain), at={"c": 2.0})
    assert (result.verdict, max(requested), min(requested)) == ("CONFIRMED", 25_600, 200)


@pytest.mark.evidence
@pytest.mark.parametrize("kind", [rf.Bound(), rf.Equality(), rf.Ordering()])
@pytest.mark.parametrize("claimed", [lambda mu: G(mu), lambda mu: mu, lambda mu: mi.LaplaceTradeOff(mu)])
@pytest.mark.parametrize("shift", [0.03, 0.05])
def test_controls_are_refuted_by_the_same_judge(kind, claimed, shift: float) -> None:
    item = statement(kind, claimed, claimed, control=rf.Control({"mu": 1.0}, shift=shift))
    assert str(rf.judge(item, at={"mu": 1.0}).verdict) == "CONFIRMED"
    assert str(rf.judge(rf.controlled(item), at={"mu": 1.0}).verdict) == "REFUTED"


@pytest.mark.evidence
def test_the_control_of_a_loose_bound_puts_the_claim_in_the_place_of_the_truth() -> None:
    loose = statement(
        rf.Bound(), lambda mu: G(mu), lambda mu: G(mu / 2), control=rf.Control({"mu": 1.0}, attained=True)
    )
    assert str(rf.judge(rf.controlled(loose), budget=0).verdict) == "REFUTED"
    with pytest.raises(ValueError, match="s has no control"):
        rf.controlled(statement(rf.Bound(), lambda mu: 1.0, lambda mu: 1.0))


def raising(mu):
    if mu > 1.5:
        raise RuntimeError("too large")
    return G(mu)


def test_points_that_fail_are_recorded_and_stop_nothing() -> None:
    result = rf.judge(statement(rf.Bound(), lambda mu: G(mu), raising), at=[{"mu": 2.0}, {"mu": 1.0}])
    assert str(result.verdict) == "INCONCLUSIVE"
    assert [failure.at for failure in result.failures] == [{"mu": 2.0}]
    assert "RuntimeError: too large" in str(result)
    nan = rf.judge(statement(rf.Bound(), lambda mu: 1.0, lambda mu: math.nan), at={"mu": 1.0})
    assert not nan.failures
    assert str(nan.verdict) == "INCONCLUSIVE"
    assert "Truth is undefined (NaN)" in nan.judged[0].detail
    claim = statement(rf.Bound(), lambda mu: math.nan, lambda mu: 1.0)
    assert "Claimed is undefined (NaN)" in rf.judge(claim, at={"mu": 1.0}).judged[0].detail
    for value, says in (
        (None, "truth returned None"),
        ("x", "truth returned 'x'"),
        (G(1.0), "both must be of the same sort"),
    ):
        odd = rf.judge(statement(rf.Bound(), lambda mu: 1.0, lambda mu, v=value: v), at={"mu": 1.0})
        assert says in odd.failures[0].error


RNG = np.random.default_rng(0)
RESTLESS = {
    "a number": lambda mu: mu + 1e-15 * RNG.integers(1, 2**40),
    "a number with an error": lambda mu: rf.Number(mu, error=RNG.random()),
    "a curve": lambda mu: G(mu + 1e-6 * RNG.random()),
    "a game": lambda mu: noisy_mean(1.0 + RNG.random())[:2],
    "samplers": lambda mu: (lambda rng, n: rng.normal(size=n), lambda rng, n: RNG.normal(mu, size=n)),
}
"""What changes from call to call."""


@pytest.mark.parametrize("role", ["claimed", "truth"])
@pytest.mark.parametrize("value", RESTLESS)
def test_a_function_that_returns_another_value_at_each_call_is_refused(value: str, role: str) -> None:
    """Before anything is judged or probed; with its own value at each point it is judged, which is the control."""
    steady = {"claimed": lambda mu: G(mu), "truth": lambda mu: G(mu)}
    item = statement(rf.Bound(), **steady | {role: RESTLESS[value]})
    for begin in (
        lambda: rf.judge(item, budget=0),
        lambda: rf.judge(item, at={"mu": 1.0}),
        lambda: rf.hunt(item, "2 probes"),
    ):
        with pytest.raises(
            ValueError,
            match=f"^{role} of s returned two values at .*; it must return the same value at each call",
        ) as error:
            begin()
        assert len(str(error.value)) <= 200
    assert not rf.judge(statement(rf.Bound(), **steady), at={"mu": 1.0}).failures


def test_a_claim_that_is_no_trade_off_function_is_a_finding() -> None:
    class Bump(mi.AbstractTradeOff):
        def enclosure(self, log_fpr):
            def both(fpr):
                fnr = np.clip(1 - fpr**0.5 + 0.05 * np.sin(20 * fpr), 0, 1)
                return fnr, 1 - fnr

            return mi.bounds_from_rates(both, log_fpr)

    result = rf.judge(statement(rf.Bound(), lambda mu: Bump(), lambda mu: G(0.5)), at={"mu": 1.0})
    assert len(result.findings) == 1
    assert "no trade-off function" in str(result)
    for curve in (G(0.0), G(1.0), mi.LaplaceTradeOff(1.0), mi.ApproxDPTradeOff(1.0, 0.1)):
        assert no_tradeoff(curve) == ""


def test_the_domain_is_filled_with_all_its_corners() -> None:
    domain = {"mu": rf.Real(0.1, 3.0), "side": rf.Choice("add", "remove"), "n": rf.Whole(1, 9)}
    result = rf.judge(
        statement(rf.Bound(), lambda mu: mu, lambda mu: mu, domain=domain), samples=32, budget=0
    )
    points = [item.parameters for item in result.judged]
    assert len(points) == 8 + 32
    assert {(p["mu"], p["side"], p["n"]) for p in points} >= {
        (mu, side, n) for mu in (0.1, 3.0) for side in ("add", "remove") for n in (1, 9)
    }
    assert result.share == 1.0


class Moved(mi.AbstractTradeOff):
    """Another curve, with its FNR moved by so many probits below an FPR of 1e-5, and by -0.05 elsewhere."""

    curve: mi.AbstractTradeOff
    rare: float

    def enclosure(self, log_fpr):
        known, shift = self.curve.enclosure(log_fpr), np.where(log_fpr < np.log(1e-5), self.rare, -0.05)

        def moved(fnr, tpr):
            probit = np.where(fnr < -np.log(2.0), ndtri_exp(fnr), -ndtri_exp(tpr)) + shift
            return log_ndtr(probit), log_ndtr(-probit)

        low, caught = moved(known.log_fnr_low, known.log_tpr_high)
        high, least = moved(known.log_fnr_high, known.log_tpr_low)
        return mi.CurveBounds(low, high, least, caught)


@pytest.mark.evidence
@pytest.mark.parametrize(("rare", "expected"), [(0.4, "REFUTED"), (-0.05, "INCONCLUSIVE")])
def test_rare_rates_refute_where_a_law_is_proven_for_single_ones(rare: float, expected: str) -> None:
    data = mi.Bernoulli(np.linspace(0.2, 0.8, 10))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=40, target=data.easiest_target())
    score = mi.CovarianceScore(data, 40)
    law = game.exact(score)
    assert law.law.error_bound > 1e-7  # so that as a whole it says nothing below 1e-4
    bound = statement(rf.Bound(), lambda mu: Moved(law, rare), lambda mu: (game, score))
    result = rf.judge(bound, at={"mu": 1.0}, games=20_000)
    assert not result.failures
    assert str(result.verdict) == expected
    assert result.worst is not None
    assert result.worst.route == "exact law"
    assert result.worst.games == 0
    assert ("At an FPR below 0.0001" in result.worst.detail) == (expected == "REFUTED")


def test_a_control_of_a_claim_that_gives_all_away_has_no_warning(recwarn):
    """Its mu is infinite, and so is the shift: certain ends stay as they are."""
    shifted = Shifted(GaussianTradeOff(40.0), math.inf)
    assert np.array_equal(shifted.probit_beta([0.0, 0.5, 1.0]), [math.inf, -math.inf, -math.inf])
    assert np.allclose(
        Shifted(GaussianTradeOff(1.0), 0.1).probit_beta([0.2]), GaussianTradeOff(1.0).probit_beta([0.2]) - 0.1
    )
    assert not recwarn.list


def test_a_shifted_curve_keeps_an_fnr_that_underflows() -> None:
    """At 38 probits the log of the TPR is -3e-316, which SciPy tells as 0."""
    curve = GaussianTradeOff(37.0)
    log_fpr = np.log(np.array([0.1, 0.5, 0.9]))
    shifted, plain = (item.enclosure(log_fpr) for item in (Shifted(curve, 1.0), GaussianTradeOff(38.0)))
    for k in (0, 2):  # each lower end is below the upper end of the other, either way round
        assert (shifted[k] <= plain[k + 1]).all()
        assert (plain[k] <= shifted[k + 1]).all()


@pytest.mark.parametrize(
    "value",
    [None, "0.5", (0.5, 1e-6), [0.4, 0.6], (lambda key: 0.0, lambda key: 1.0)],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_truth_is_refused_with_all_that_is(value: object) -> None:
    """A number with its error is no pair, and samplers that take other arguments are refused before any work."""
    with pytest.raises(
        ValueError, match=r"rf.Number\(value, error=...\).* samplers \(out, in\) of \(generator, games\)$"
    ):
        read("truth", value)
