"""What a claim's results say together: defects, readings, shares, units, and the points that are drawn."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from verify.claim import Budget, Claim, Kind, Quote, Regime, RegimeResult, Verdict
from verify.claim_result import ClaimResult, Defect
from verify.command import main
from verify.judge import headline, judge, regime_named, sampled_regimes
from verify.report.record import Setting, claim_record
from verify.report.section import section
from verify.report.tally import sentence, standing

SETTING = Setting("quick", 0.999, 0)
WORDS = Quote("The power tends to Φ(z + √m*).", "theorem 3.1, p. 5")


def point(
    name: str, gap: float, reading: str = "", setting: str = "", unit: str = "probit", tolerance: float = 0.02
) -> Regime:
    """A regime that an exact law judges: REFUTED where the gap exceeds the tolerance."""

    def judged(_: Budget) -> RegimeResult:
        verdict = Verdict.REFUTED if abs(gap) > tolerance else Verdict.CONFIRMED
        return RegimeResult(
            {"gap": gap},
            verdict,
            0,
            gap,
            (gap, gap),
            abs(gap),
            0.0,
            unit=unit,
            route="exact law",
            tolerance=tolerance,
        )

    return Regime(name, {"gap": gap}, judged, reading, random=False, setting=setting)


def drawn(rng: np.random.Generator, count: int) -> list[Regime]:
    """Points that stand where a uniform number is below 0.7."""
    return [point("u", float(u > 0.7)) for u in rng.random(count)]


def claim(*regimes: Regime, **fields) -> Claim:
    return Claim("c", "azize", "x = y", Kind.CURVE, 0.02, "probit", {}, regimes, lambda: regimes[0], **fields)


GOOD, BAD = point("good", 0.0), point("bad", 0.1)
SLIP = (Quote("with +", "equation 4"), Quote("with -", "equation 9"))


def result(*regimes: Regime, register: dict | None = None, **fields) -> ClaimResult:
    return judge(claim(*regimes, **fields), "quick", 1e-4, register=register)


@pytest.mark.parametrize(
    ("found", "defect"),
    [
        (result(GOOD), None),
        (result(GOOD, slip=SLIP), None),
        (result(GOOD, BAD), None),
        (result(GOOD, BAD, slip=SLIP), Defect.WORDING),
        (result(GOOD, point("p", 0.1, setting="paper")), Defect.FORMULA),
        (result(BAD, point("p", 0.0, setting="paper")), None),
        (result(BAD, sampled=lambda rng, count: [point("u", 0.1)]), Defect.FORMULA),
        (result(BAD, sampled=lambda rng, count: [point("u", 0.0)]), None),
        (result(point("a", 0.1, "one-sided"), point("b", 0.0, "two-sided")), Defect.READING),
        (result(BAD, point("a", 0.1, "one-sided"), point("b", 0.0, "two-sided")), None),
        (result(point("a", 0.1, "one-sided"), point("b", 0.1, "two-sided")), None),
    ],
)
def test_the_defect_is_computed(found: ClaimResult, defect: Defect | None):
    assert found.defect == defect
    assert claim_record(found, SETTING)["defect"] == defect


def test_a_missing_condition_is_told_by_the_correction():
    right = replace(claim(GOOD), id="c-corrected", corrects="c", same_formula=True)
    wrong = replace(right, same_formula=False)
    assert result(BAD, corrected_by="c-corrected", register={"c-corrected": right}).defect is Defect.CONDITION
    assert result(BAD, corrected_by="c-corrected", register={"c-corrected": wrong}).defect is None
    # At the paper's own setting no condition helps.
    paper = point("p", 0.1, setting="paper")
    assert result(paper, corrected_by="c-corrected", register={"c-corrected": right}).defect is Defect.FORMULA


def test_each_reading_has_its_verdict():
    found = result(GOOD, point("a", 0.1, "one-sided"), point("b", 0.0, "two-sided"))
    assert found.readings == {"one-sided": "REFUTED", "two-sided": "CONFIRMED"}
    assert "By reading: one-sided: REFUTED; two-sided: CONFIRMED." in section(found, SETTING)


def test_nothing_is_the_maximum_over_mixed_units():
    found = result(point("a", 0.01), point("b", 3.0, unit="log ratio", tolerance=4.0), point("c", -0.015))
    assert found.gaps == {"probit": 0.015, "log ratio": 3.0}
    assert found.smallest_tolerances == {"probit": 0.015, "log ratio": 3.0}
    record = claim_record(found, SETTING)
    assert record["smallest_tolerance"] is None
    assert [(r["unit"], r["tolerance"]) for r in record["regimes"]] == [
        ("probit", 0.02), ("log ratio", 4.0), ("probit", 0.02),
    ]  # fmt: skip
    # The largest number of tolerances speaks, not the largest number.
    assert found.names[headline(found) or 0] == "b"
    found = result(point("a", 0.1), point("b", 5.0, unit="log ratio", tolerance=4.0))
    assert found.counterexample is found.regimes[0]


def test_the_share_of_the_drawn_points_that_stand():
    found = judge(claim(GOOD, sampled=drawn), "full", 1e-4)
    assert len(found.regimes) == 201
    # 200 points, each standing with probability 0.7: binomial, outside this range with probability below 1e-9.
    assert found.share is not None
    assert 0.47 < found.share < 0.88
    assert found.verdict is Verdict.REFUTED
    assert claim_record(found, SETTING)["share"] == found.share
    assert "of 200 points drawn at random from its domain stand" in section(found, SETTING)
    assert result(GOOD).share is None


def test_drawn_points_depend_on_claim_and_seed_only():
    one = claim(GOOD, sampled=drawn)
    quick, full = (sampled_regimes(one, scale, 0) for scale in ("quick", "full"))
    assert [regime.name for regime in quick] == [f"sampled {i}" for i in range(1, 9)]
    assert [r.parameters for r in quick] == [r.parameters for r in full[:8]]
    other = [r.parameters for r in sampled_regimes(one, "full", 1)]
    renamed = [r.parameters for r in sampled_regimes(replace(one, id="d"), "full", 0)]
    assert [r.parameters for r in full] not in (other, renamed)
    again = regime_named(one, "sampled 5", 0)
    assert again is not None
    assert again.parameters == full[4].parameters
    assert (
        regime_named(one, "sampled 0", 0)
        is regime_named(one, "sampled x", 0)
        is regime_named(claim(GOOD), "sampled 1", 0)
        is None
    )
    assert len(sampled_regimes(replace(one, samples=(3, 4, 5)), "standard", 0)) == 4


def test_a_drawn_point_can_be_judged_again(capsys):
    register = {"c": claim(GOOD, sampled=drawn)}
    whole = judge(register["c"], "quick", 1e-4)
    assert main(["c", "--regime", "sampled 3", "--scale", "quick"], register) == 0
    assert f"c, regime sampled 3: {whole.regimes[3].verdict}." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sampled", "words"),
    [
        (lambda rng, count: [], "returned 0 regimes for one point"),
        (lambda rng, count: [replace(GOOD, random=True)], "a regime that chance enters for one point"),
    ],
)
def test_bad_samples_are_no_verdict(sampled, words: str):
    found = result(GOOD, sampled=sampled)
    assert not found.judged
    assert words in found.errors[0][1]


@pytest.mark.parametrize(
    ("fields", "random", "words"),
    [
        ({"games": 7}, False, "random is False for regime r, which played 7 games"),
        ({"route": "exact law", "interval": (0.0, 0.1)}, True, "it must not be called exact"),
        (
            {"route": "averages over drawn sets"},
            True,
            "interval is the point 0 for regime r, which chance enters",
        ),
        ({"unit": "advantage"}, False, "tolerance of the result is missing and its unit is 'advantage'"),
    ],
)
def test_what_chance_enters_is_not_called_exact(fields: dict, random: bool, words: str):
    given = {
        "games": 0,
        "gap": 0.0,
        "interval": (0.0, 0.0),
        "smallest_tolerance": 0.0,
        "detectable_gap": 0.0,
    } | fields
    regime = Regime("r", {}, lambda budget: RegimeResult({}, Verdict.CONFIRMED, **given), random=random)
    ((_, error),) = result(regime).errors
    assert words in error


def test_a_missing_interval_is_not_exact():
    nothing = RegimeResult({}, Verdict.INCONCLUSIVE, 0, math.nan, (math.nan, math.nan), math.inf, 0.0)
    assert not nothing.exact
    assert not result(Regime("r", {}, lambda budget: nothing, random=False)).exact


def test_quotes_are_in_the_data_and_on_the_page():
    limited = Quote("asymptotically, for n and d large", "section 3, p. 4")
    found = result(BAD, quote=WORDS, restricted_by=(limited,), slip=SLIP)
    record = claim_record(found, SETTING)
    assert record["quote"] == {"text": WORDS.text, "place": WORDS.place}
    assert record["restricted_by"] == [{"text": limited.text, "place": limited.place}]
    assert [one["place"] for one in record["slip"]] == ["equation 4", "equation 9"]
    page = section(found, SETTING)
    for words in (
        WORDS.text,
        f"In the paper: {WORDS.place}",
        limited.text,
        f"Restricted by: {limited.place}",
        "Defect: <strong>wording",
    ):
        assert words in page


def test_the_headline_counts_by_defect():
    right = replace(claim(GOOD), id="d", corrects="c")
    results = [result(GOOD), result(BAD, slip=SLIP), result(BAD), judge(right, "quick", 1e-4)]
    assert [standing(r) for r in results] == [
        "CONFIRMED",
        "REFUTED: wording",
        "REFUTED: no class",
        "CONFIRMED",
    ]
    assert sentence(results) == (
        "3 printed statements (1 CONFIRMED, 1 REFUTED: wording, 1 REFUTED: no class); 1 correction (1 CONFIRMED)"
    )


def test_the_data_alone(sound, tmp_path, capsys):
    assert main(["--scale", "quick", "--json", str(tmp_path / "a/b.json")], sound) == 0
    capsys.readouterr()
    assert main(["--scale", "quick", "--json", "-"], sound) == 0
    out, err = capsys.readouterr()
    ours, theirs = json.loads(out), json.loads((tmp_path / "a/b.json").read_text("utf-8"))
    assert [record["claim"] for record in ours] == [record["claim"] for record in theirs] == list(sound)
    assert "Judged 4 claims" in err
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", tmp_path / "a/b.json"]
