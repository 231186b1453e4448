"""The findings: what an author needs to check each."""

from verify.report.findings import findings

RECORD = {
    "claim": "paper-thm-1",
    "paper": "azize",
    "verdict": "REFUTED",
    "corrects": None,
    "corrected_by": "paper-thm-1-corrected",
    "defect": "condition",
    "quote": {"text": "It\n holds.", "place": "theorem 1"},
    "statement": "It holds.",
    "restricted_by": [{"text": "For n large.", "place": "p. 2"}],
    "slip": None,
    "share": 0.25,
    "counterexample": {
        "name": "n = 3",
        "parameters": {"n": 3, "p": 0.25},
        "gap": 0.5,
        "interval": [0.4999, "inf"],
        "unit": "power",
        "route": "enumeration",
        "detail": "Where it breaks.",
        "second_route": "By games.",
        "command": "python -m verify paper-thm-1 --regime 'n = 3'",
    },
}
CORRECTION = RECORD | {
    "claim": "paper-thm-1-corrected",
    "verdict": "CONFIRMED",
    "corrects": "paper-thm-1",
    "statement": "It holds for n > 3.",
}


def test_a_finding_has_all_that_is_needed_to_check_it() -> None:
    text = findings([RECORD, CORRECTION], {"paper-thm-1-corrected": "By induction."})
    for said in (
        "### paper-thm-1: condition",
        "> It holds. (theorem 1)",
        "> For n large. (p. 2)",
        "25% stand",
        "n = 3, p = 0.25. Gap 0.5 in [0.4999, inf] (power).",
        "Second route: By games.",
        "    uv run python -m verify paper-thm-1 --regime 'n = 3'",
        "**Corrected** (`paper-thm-1-corrected`, CONFIRMED): It holds for n > 3.",
        "    By induction.",
    ):
        assert said in text
    assert text.count("###") == 1


def test_what_stands_is_no_finding() -> None:
    assert "###" not in findings(
        [RECORD | {"verdict": "CONFIRMED"}, RECORD | {"verdict": "INCONCLUSIVE"}], {}
    )
