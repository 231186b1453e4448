"""What every claim of the register must bring: the sentence that it judges, a control, and what is wrong if it fails."""

import pytest

from verify.claim import Budget, Claim, Verdict
from verify.claim_result import Defect
from verify.control import Control, shortcomings
from verify.judge import judge
from verify.register import REGISTER

# One regime's share of a family-wise failure probability of 1e-9 over this whole file.
BUDGET = Budget("quick", 1e-9 / 1000, seed=1)
MOVED: tuple[str, ...] = ("azize", "leemann", "kaissis", "izzo")
"""Papers whose claims keep all of the rules below."""


def missing(claim: Claim) -> list[str]:
    """What the claim lacks that can be seen without judging it."""
    found = shortcomings(claim)
    if claim.quote is None or not claim.quote.text or not claim.quote.place:
        found.append("no quotation of the sentence that is judged")
    if claim.corrects is not None and len(claim.derivation) < 200:
        found.append("no derivation with its conditions")
    if claim.corrected_by is not None:
        twin = REGISTER[claim.corrected_by]
        readings = {regime.reading for regime in claim.regimes if regime.reading}
        settings = {regime.setting for regime in claim.regimes}
        if not (claim.slip or twin.same_formula or "paper" in settings or claim.sampled or len(readings) > 1):
            found.append(
                "nothing that tells its defect: no slip, reading, setting, sample or narrower correction"
            )
    return found


RULED = [claim for claim in REGISTER.values() if claim.paper in MOVED]


def test_what_is_missing_yet(capsys):
    lacking = {claim.id: missing(claim) for claim in REGISTER.values()}
    with capsys.disabled():
        for name, what in lacking.items():
            if what:
                print(f"\n{name}: {'; '.join(what)}", end="")
    assert {name for name, what in lacking.items() if what and REGISTER[name].paper in MOVED} == set()


@pytest.mark.parametrize("claim", RULED, ids=lambda claim: claim.id)
def test_the_control_is_refuted_and_what_it_shifts_is_not(claim: Claim):
    """Made false by a few per cent, a regime of the claim is REFUTED by the judge that does not refute it unshifted."""
    control = claim.control
    assert isinstance(control, Control)
    assert control().judge(BUDGET).verdict is Verdict.REFUTED
    # What is false wherever it is judged has no regime that stands; its correction has, and keeps the rule.
    if not control.plants and claim.corrected_by is None:
        assert control.original.judge(BUDGET).verdict is not Verdict.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim", [claim for claim in RULED if claim.corrects is None], ids=lambda claim: claim.id
)
def test_what_is_refuted_has_a_defect(claim: Claim):
    result = judge(claim, "quick", BUDGET.failure_probability, register=REGISTER)
    assert result.errors == ()
    if result.verdict is Verdict.REFUTED:
        assert isinstance(result.defect, Defect)
        assert any(r.second_route for r in result.regimes if r.verdict is Verdict.REFUTED)
