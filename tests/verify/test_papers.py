"""Quotations are whole sentences of their papers, and each number of a paper is judged or has a reason why not."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from mipsim import referee as rf
from mipsim.theory import izzo
from verify.papers import broken_index, broken_quotes, index_of, numbered, texts_in, violations, whole
from verify.register import PAPERS, REGISTER, paper_of
from verify.statement import Statement

TEXTS = texts_in(Path(__file__).parents[3].joinpath("shared", "papers"))
needs_papers = pytest.mark.skipif(
    not TEXTS, reason="the papers' texts are not beside the checkout: they may not be passed on"
)
INDEXED = [name for name in PAPERS if name != "field"]
TEXT = "Lemma 1 (Small). It is small, and it is fast.\n\n$$x = y. \\tag{2}$$\n\nBy Lemma 1.5 of others it is. All is well."
INDEX = {
    "numbered": {"lemma 1": "by izzo-thm-4", "equation 2": "not judged: the definition of x"},
    "sentences": {"All is well.": "by izzo-thm-4; not judged: what is meant by well"},
}
PAPER = """# Title

**Theorem 1**.: _Let \\(\\) be private, i.e. let $x > 0$. Then the mechanism \\mathcal{M} is safe, and the attacker loses._

In the end [3] we say so (Someone et al., 2020): this is

$$y = x. \\tag{1}$$

Proof. It is easy."""


def test_the_register_is_in_order():
    assert violations(REGISTER, {}) == []


@needs_papers
def test_every_quotation_and_number_is_in_its_paper():
    assert set(TEXTS) == {"azize", "leemann", "kaissis", "izzo"}
    assert all(len(numbered(text)) >= 19 for text in TEXTS.values())
    assert violations(REGISTER, TEXTS) == []


@needs_papers
@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        # What the register had: each was cut before the part that fails, or that nobody judges.
        ("kaissis-power", ", and the loss of power is amplified through subsampling.", "", "ends inside a sentence"),
        ("kaissis-audit-records", " and the trade-off functions become symmetric, exactly verifying Theorem 3.", "", "ends inside"),
        ("izzo-noise", ", i.e., by first enforcing eps-DP by bounding the algorithm sensitivity and applying the Laplace mechanism, then using the tight DP/MIP correspondence from Theorem 4. For n > 48, the amount of noise required by DP is so large that it will not appear on the plot.", "", "ends inside"),
        ("kaissis-rero", "In the Appendix, we demonstrate that, ", "", "begins inside a sentence"),
        ("leemann-thm-5.1-tight", "optimal in", "not optimal in", "is not in the text"),
        ("izzo-thm-4", "tight", "loose", "is not in the text"),
    ],
)  # fmt: skip
def test_a_planted_cut_is_seen(name, old, new, why):
    quote = REGISTER[name].quote
    assert quote is not None
    assert old in quote.text
    text = quote.text.replace(old, new)
    planted = replace(REGISTER[name], quote=rf.Quote(text, quote.place), not_judged={})
    assert any(why in line for line in broken_quotes({name: planted}, TEXTS))


@pytest.mark.parametrize(
    ("quotation", "why"),
    [
        ("Let x be private, i.e. let x > 0. Then the mechanism M is safe, and the attacker loses.", ""),
        ("Then the mechanism M is safe, and the attacker loses. [...] It is easy.", ""),
        ("In the end we say so: this is y = x.", ""),
        ("Then the mechanism M is safe", "ends inside"),
        ("the mechanism M is safe, and the attacker loses.", "begins inside"),
        ("Then the mechanism M is not safe, and the attacker loses.", "not in the text"),
        ("Then the mechanism M is safe, and loses.", "not in the text"),
        ("In the end [page] this is y = x.", ""),
        ("In the end [page] so is y = x.", "not in the text"),
    ],
)
def test_sentences_are_compared_word_by_word(quotation, why):
    result = whole(PAPER, quotation)
    assert why in result
    assert bool(result) == bool(why)


def small(name: str, **more) -> Statement:
    return Statement(
        name=name, says="x <= 1", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
        claimed=lambda: 1.0, truth=lambda x: x, quote=rf.Quote("It is small and it is fast.", "page 1"), **more,
    )  # fmt: skip


def test_what_is_left_out_is_judged_by_another_or_has_a_reason():
    fast = small("fast", not_judged={"It is small": "by small"})
    assert broken_quotes({"fast": fast, "small": small("small")}, {}) == []
    (message,) = broken_quotes({"fast": fast}, {})
    assert "leaves 'It is small' to small, which quotes no such words" in message
    other = small("small", not_judged={"It is small": "a matter of taste, on which no theorem rests"})
    (message,) = broken_quotes({"fast": fast, "small": other}, {})
    assert "leave 'It is small' to others" in message
    (message,) = broken_quotes({"small": small("small", not_judged={"it is fast": "vague"})}, {})
    assert "gives no reason: 'vague'" in message
    (message,) = broken_quotes(
        {"small": small("small", not_judged={"it is slow": "how slow, is not stated"})}, {}
    )
    assert "'it is slow', which it does not quote" in message


def test_every_printed_statement_is_of_a_number_or_quotes_a_sentence():
    named = {
        name for paper in INDEXED for part in index_of(paper).values() for verdict in part.values()
        for name in verdict.removeprefix("by ").partition(";")[0].split(", ")
    }  # fmt: skip
    apart = [
        item.name for item in REGISTER.values()
        if not item.corrects and paper_of(item.name) != "field" and item.name not in named
    ]  # fmt: skip
    # These judge sentences without a number, which they quote.
    assert set(apart) <= {
        "azize-B.3", "azize-mean-leakage", "azize-gdp", "azize-gdp-guarantee", "azize-scalar-product", "azize-scalar-product-finite",
        "azize-z-estimators-logistic", "kaissis-rero", "kaissis-rero-guarantee",
    }  # fmt: skip


def test_numbers_are_read_off_the_text():
    assert numbered(TEXT) == {"lemma 1", "equation 2"}
    assert broken_index(INDEX, REGISTER, TEXT) == []


@pytest.mark.parametrize(
    ("text", "changes", "why"),
    [
        (TEXT + "\n\nLemma 7. It is new.", {}, "lemma 7 is missing"),
        (TEXT.replace("Lemma 1 (", "Lemma 3 ("), {}, "lemma 1 is not in the text"),
        (TEXT, {"lemma 1": "by izzo-thm-99"}, "izzo-thm-99 is no printed statement"),
        (TEXT, {"lemma 1": "by izzo-thm-8-corrected"}, "izzo-thm-8-corrected is no printed statement"),
        (TEXT, {"lemma 1": ""}, "lemma 1: no reason"),
        (TEXT, {"lemma 1": "not judged: later"}, "lemma 1: no reason"),
        (TEXT.replace("All is well", "All is lost"), {}, "is not in the text: All is well."),
    ],
)
def test_a_planted_gap_is_seen(text, changes, why):
    index = INDEX | {"numbered": INDEX["numbered"] | changes}
    assert any(why in line for line in broken_index(index, REGISTER, text))


def decimals(*texts: str) -> set[str]:
    return {number for text in texts for number in re.findall(r"(?<![\d.])\d*\.\d+(?![\d.])", text)}


def unquoted(item: Statement) -> set[str]:
    """Numbers of a formula, and of the words of Izzo et al.'s statements, that no quotation has: its own, or of what it rests on."""
    near = {name: REGISTER[name] for name in (*item.uses, *filter(None, [item.corrects]))}
    near |= {name: REGISTER[name] for other in near.values() for name in other.uses}
    quotes = [
        quote.text for one in (item, *near.values()) for quote in (one.quote, *one.restricted_by) if quote
    ]
    words = (item.says, item.derivation) if item.name.startswith("izzo") else ()
    return decimals(item.formula, *words) - decimals(*quotes)


COMPUTED = {"izzo-prop-11-dataset-corrected"}
"""Statements whose derivation computes numbers."""


def test_numbers_of_formulas_are_those_of_the_quotations() -> None:
    """Of corrections, which have numbers of their own, those of Izzo et al.'s statements alone."""
    papers = [
        item for item in REGISTER.values() if paper_of(item.name) != "field" and item.name not in COMPUTED
    ]
    assert not [
        item.name
        for item in papers
        if unquoted(item) and (paper_of(item.name) == "izzo" or not item.corrects)
    ]
    corollary = REGISTER["izzo-cor-14"]
    assert unquoted(replace(corollary, formula=corollary.formula.replace("6.16", "6.2"))) == {"6.2"}


@pytest.mark.parametrize(
    ("name", "constant"),
    [("thm-9", izzo.CONSTANT), ("cor-14", izzo.CONSTANT_FROM_2), ("cor-10", izzo.CONSTANT_FROM_2)],
)
def test_constants_of_the_code_are_those_of_the_quotations(name: str, constant: float) -> None:
    quote = REGISTER[f"izzo-{name}"].quote
    assert quote is not None
    assert decimals(quote.text) == {f"{constant:g}"}
