"""Every numbered statement of the four papers is in the register, once, and knows its twin."""

import pytest

from verify.claim import Claim
from verify.register import REGISTER

NUMBERED = {
    "azize": (
        "thm-2.1a", "thm-2.1b", "thm-2.1c", "thm-3.1-advantage", "thm-3.1-power", "lemma-C.6", "eq-5", "lemma-C.9",
        "eq-11", "eq-12-14", "B.3", "mean-leakage", "thm-4.1", "thm-4.2", "lemma-C.12", "thm-4.3", "gdp",
        "scalar-product", "reference-points", "onion", "z-estimators", "alg-3", "alg-4",
    ),
    "leemann": (
        "thm-4.1", "thm-4.2", "thm-5.1", "cor-5.1", "rem-5.1", "lemma-5.1", "D.3", "alg-1", "less-noise",
    ),
    "kaissis": (
        "lemma-1", "lemma-2", "lemma-3", "lemma-4", "lemma-5", "lemma-6", "thm-1", "thm-2", "cor-1", "lemma-8", "thm-3",
        "blessing", "lemma-9", "power", "audit", "rero",
    ),
    "izzo": (
        "prop-2", "thm-3", "thm-4", "thm-5", "prop-6", "thm-7", "thm-8", "thm-9", "cor-10", "cor-14", "prop-11",
        "noise", "lemma-12", "lemma-13", "alg-1",
    ),
}  # fmt: skip
IDS = [f"{paper}-{name}" for paper, names in NUMBERED.items() for name in names]


@pytest.mark.parametrize("name", IDS)
def test_every_numbered_statement_is_judged(name: str):
    assert name in REGISTER
    claim = REGISTER[name]
    assert (claim.id, claim.paper) == (name, name.partition("-")[0])
    assert claim.regimes
    assert claim.corrects is None


def test_no_paper_lists_an_id_twice():
    """The register is a mapping: a second claim of the same id would hide the first."""
    from verify import azize, izzo, kaissis, leemann

    listed = [claim.id for paper in (azize, leemann, kaissis, izzo) for claim in paper.CLAIMS]
    assert sorted(listed) == sorted(set(listed))


@pytest.mark.parametrize("claim", REGISTER.values(), ids=REGISTER)
def test_a_claim_is_whole(claim: Claim):
    """Its regimes have names of their own, its domain is data, and the twin that it names knows it."""
    names = [regime.name for regime in claim.regimes]
    assert len(names) == len(set(names))
    assert claim.domain
    assert claim.id.endswith("-corrected") == (claim.corrects is not None)
    if claim.corrected_by is not None:
        assert REGISTER[claim.corrected_by].corrects == claim.id
    if claim.corrects is not None:
        assert REGISTER[claim.corrects].corrected_by == claim.id
        assert len(claim.derivation) > 40
