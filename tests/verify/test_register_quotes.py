"""A quotation is whole sentences of its paper, and what of it is not judged says where it is, or why it is nowhere."""

from dataclasses import replace
from pathlib import Path

import pytest

from mipsim import referee as rf
from verify.register import PAPERS, REGISTER
from verify.rules import broken_quotes
from verify.sentences import whole

FOLDER = Path(__file__).parents[3].joinpath("shared", "papers")
TEXTS = {name: file.read_text("utf-8") for name in PAPERS if (file := FOLDER / f"{name}.txt").is_file()}
needs_papers = pytest.mark.skipif(
    not TEXTS, reason="the papers' texts are not beside the checkout: they may not be passed on"
)

PAPER = """# Title

**Theorem 1**.: _Let \\(\\) be private, i.e. let $x > 0$. Then the mechanism \\mathcal{M} is safe, and the attacker loses._

In the end [3] we say so (Someone et al., 2020): this is

$$y = x. \\tag{1}$$

Proof. It is easy."""


def test_the_register_quotes_whole_sentences():
    assert broken_quotes(REGISTER, {}) == []


@needs_papers
def test_every_quotation_is_in_its_paper():
    assert set(TEXTS) == {"azize", "leemann", "kaissis", "izzo"}
    assert broken_quotes(REGISTER, TEXTS) == []


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


def small(name: str, **more) -> rf.Statement:
    return rf.Statement(
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
    with pytest.raises(ValueError, match="no part of its quote"):
        small("small", not_judged={"it is slow": "x"})
