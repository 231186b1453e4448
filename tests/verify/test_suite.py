"""The suite's verdicts, and that they can fail."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from verify.command import main
from verify.tools.broken_mechanisms import EPSILON, SUITE, Noise, noisy_max, noisy_vector
from verify.tools.suite import PUBLISHED, by_games, by_law, patterns, ratio_above

CORRECT = (
    "SVT1",
    "SVT2",
    "noisy max 1",
    "noisy max 2",
    "histogram 1",
    "prefix sum",
    "one-time RAPPOR",
    "RAPPOR",
    "truncated geometric",
)
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


@pytest.mark.parametrize(
    "planted",
    [
        replace(noisy_max("noisy max", 6, Noise(0.97 * 2 / EPSILON, one_sided=True), value=False)),
        noisy_vector(
            "histogram", "planted", Noise(0.97 / EPSILON), 5, sums=False, single_change=True, claimed=EPSILON
        ),
    ],
    ids=["index", "histogram"],
)
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
