"""The public suite: its laws against quadrature, games and closed forms."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate
from scipy.stats import binom, laplace

import mipsim as mi
from verify.command import main
from verify.tools.broken_mechanisms import (
    EPSILON,
    SUITE,
    Mechanism,
    Noise,
    noisy_max,
    noisy_vector,
    patterns,
    sparse_vector,
)
from verify.tools.suite import PUBLISHED, by_games, by_law, ratio_above

BY_NAME = {mechanism.name: mechanism for mechanism in SUITE}


@pytest.mark.evidence
@pytest.mark.parametrize("mechanism", SUITE, ids=lambda mechanism: mechanism.name)
def test_games_follow_the_law(mechanism: Mechanism) -> None:
    """Every outcome's count in both worlds; the probability that a test of a right law fails is 1e-6 a mechanism."""
    games, pairs = 20_000, patterns(mechanism.queries, mechanism.single_change)
    a, b = pairs["one below" if mechanism.single_change else "X shape"]
    game = mi.TwoInputs(mechanism.release, a, b)
    attack = mi.FunctionAttack(lambda target, output: mechanism.outcome(output))
    laws = mechanism.law(a), mechanism.law(b)
    played = mi.play(game, attack, games, edges=np.arange(laws[0].size - 1) + 0.5, progress=False)
    for law, counts in zip(laws, (played.out, played.inside), strict=True):
        assert abs(law.sum() - 1.0) < 1e-12
        risk = 1e-6 / (4 * law.size)
        assert (counts >= binom.ppf(risk, games, law)).all()
        assert (counts <= binom.isf(risk, games, law)).all()


def test_the_sparse_vector_technique_by_quadrature() -> None:
    """P(two answers below, then 1 above) as a double integral over the noises, by SciPy."""
    result = BY_NAME["SVT1"].law(np.array([1.0, 0.0, 2.0, *np.zeros(7)]))[2]
    rho, nu = ({"scale": 20.0}, {"scale": 40.0})

    def f(r: float) -> float:
        return float(
            laplace.pdf(r, **rho)
            * laplace.cdf(r - 0.5, **nu)
            * laplace.cdf(r + 0.5, **nu)
            * laplace.sf(r - 1.5, **nu)
        )

    kinks = [-0.5, 0.0, 0.5, 1.5]
    parts = pairwise([-np.inf, *kinks, np.inf])
    assert result == pytest.approx(sum(integrate.quad(f, *ends, epsabs=1e-13)[0] for ends in parts), rel=1e-9)


def test_a_released_value_by_quadrature() -> None:
    """SVT3: P(the first answer is below and the second is released in a cell)."""
    answers, low, high = np.array([1.0, 2.0, *np.zeros(8)]), -5.0, 0.0
    cells = 34  # cut at -100, -95, ..., 60
    result = BY_NAME["SVT3"].law(answers)[cells + 20]

    def f(r: float) -> float:
        least = max(low, 1.0 + r)
        return (
            float(
                laplace.pdf(r, scale=20.0)
                * laplace.cdf(r, scale=20.0)
                * np.diff(laplace.cdf([least - 2.0, high - 2.0], scale=20.0))[0]
            )
            if least < high
            else 0.0
        )

    ends = [-np.inf, -6.0, -1.0]
    parts = [integrate.quad(f, *pair, epsabs=1e-14)[0] for pair in pairwise(ends)]
    assert result == pytest.approx(sum(parts), rel=1e-8)


def test_what_is_known_in_closed_form() -> None:
    """The largest ratios: epsilon q / 2 for the largest of q answers, 1 / epsilon for the wrong histogram, 1 for ten sums."""
    from verify.tools.suite import largest_ratio

    for name, pair, truth in (
        ("noisy max 3", "all above", 2.5 * EPSILON),
        ("noisy max 2", "one below, rest above", EPSILON),
        ("histogram 1", "one above", EPSILON),
        ("histogram 2", "one above", 1.0 / EPSILON),
        ("prefix sum", "all above", 10 * EPSILON),
    ):
        mechanism = BY_NAME[name]
        a, b = patterns(mechanism.queries, mechanism.single_change)[pair]
        result = max(
            largest_ratio(mechanism.law(a), mechanism.law(b)),
            largest_ratio(mechanism.law(b), mechanism.law(a)),
        )
        assert result == pytest.approx(truth, rel=1e-10)


def test_the_ten_patterns_are_neighbours() -> None:
    result = patterns(10)
    assert len(result) == 10
    assert all(np.abs(a - b).max() == 1.0 for a, b in result.values())
    assert all((a != b).sum() == 1 for a, b in patterns(5, single_change=True).values())


def test_outcomes_of_an_unstopped_technique_are_its_bits() -> None:
    mechanism = sparse_vector("all", 6, Noise(20.0), Noise(20.0), stops=False)
    assert int(mechanism.outcome(jnp.array([1, 0, 1]))) == 5


def test_exponential_noise_has_a_least_value() -> None:
    law = noisy_max("value", 8, Noise(20.0, one_sided=True), value=True).law(np.ones(5))
    least = 62  # cut at -60, -59, ...: the answers are 1
    assert (law[:least] == 0.0).all()
    assert law[least:].sum() == pytest.approx(1.0, abs=1e-13)


# The suite's verdicts, and that they can fail.

CORRECT = (
    "SVT1", "SVT2", "noisy max 1", "noisy max 2", "histogram 1", "prefix sum", "one-time RAPPOR", "RAPPOR",
    "truncated geometric",
)  # fmt: skip
TRUTHS = {
    "SVT1": 0.0885,
    "SVT2": 0.0882,
    "SVT4": 0.1725,
    "SVT6": 0.420,
    "noisy max 1": 0.0946,
    "noisy max 2": 0.1,
}
"""Published truths at these inputs, to the digits given."""


@pytest.mark.evidence
@pytest.mark.parametrize("mechanism", SUITE, ids=lambda mechanism: mechanism.name)
def test_the_verdict(mechanism) -> None:
    row = by_law(mechanism)
    assert row.verdict == ("CONFIRMED" if mechanism.name in CORRECT else "REFUTED")
    if mechanism.name in TRUTHS:
        assert row.truth == pytest.approx(TRUTHS[mechanism.name], abs=5e-5)
    if mechanism.name in ("SVT5", "noisy max 4"):
        assert math.isinf(row.truth)


@pytest.mark.evidence
def test_no_less_is_detected_than_by_others() -> None:
    """At least 95% of every finite truth by exact law, and never below DP-Sniper's bound for events above .01."""
    for mechanism in SUITE:
        if mechanism.name in PUBLISHED and mechanism.name not in ("histogram 2",):
            row = by_law(mechanism)
            assert row.above_floor >= 0.99 * max(PUBLISHED[mechanism.name].dp_sniper)


@pytest.mark.parametrize("planted", [
    replace(noisy_max("noisy max", 6, Noise(0.97 * 2 / EPSILON, one_sided=True), value=False)),
    noisy_vector("histogram", "planted", Noise(0.97 / EPSILON), 5, sums=False, single_change=True, claimed=EPSILON),
], ids=["index", "histogram"])  # fmt: skip
def test_three_per_cent_too_little_noise_is_refuted(planted) -> None:
    assert by_law(planted).verdict == "REFUTED"


def test_events_above_a_floor() -> None:
    p, q = np.array([0.02, 0.98]), np.array([0.0, 1.0])
    assert ratio_above(p, q, 0.01) == pytest.approx(math.log((0.02 + 0.01 * 0.98) / 0.01))


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism", [m for m in SUITE if m.name in CORRECT], ids=lambda mechanism: mechanism.name
)
def test_no_false_violation_in_a_hundred_seeds(mechanism) -> None:
    """Each bound is wrong with probability at most 1e-6; that any of 100 is, with probability 1e-4."""
    a, b = patterns(mechanism.queries, mechanism.single_change)["one above"]
    for seed in range(100):
        assert by_games(mechanism, a, b, 20_000, 1 - 1e-6, seed) <= mechanism.claimed * (1 + 1e-12)


def test_the_command_prints_the_table(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("verify.tools.suite.SUITE", SUITE[6:7])
    monkeypatch.setattr("verify.tools.suite.GAMES", 2000)
    path = tmp_path / "suite.json"
    assert main(["--suite", "broken-mechanisms", "--json", str(path)]) == 0
    assert "noisy max 1" in capsys.readouterr().out
    (row,) = json.loads(path.read_text())
    assert row["verdict"] == "CONFIRMED"
    assert row["truth"] == pytest.approx(0.0946, abs=5e-5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seed", "x"], "'--seed': 'x' is not a valid integer range"),
        (["azize-*"], "CLAIM is"),
        (["--out", "here"], "--out is here"),
        (["--json", "/proc/nowhere/rows.json"], "--json"),
    ],
)
def test_what_the_suite_does_not_take_is_reported_before_any_work(
    capsys, monkeypatch, arguments, says
) -> None:
    monkeypatch.setattr("verify.tools.suite.judge", lambda *_, **__: pytest.fail("work was done"))
    assert main(["--suite", "broken-mechanisms", *arguments]) == 2
    assert says in capsys.readouterr().err
