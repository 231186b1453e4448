"""Each paper is covered: every number of its text stands in its index, with a verdict or the reason why there is none."""

from pathlib import Path

import pytest

from verify.index import broken_index, index_of, numbered
from verify.register import PAPERS, REGISTER, paper_of

FOLDER = Path(__file__).parents[3].joinpath("shared", "papers")
INDEXED = [name for name in PAPERS if name != "field"]
TEXT = "Lemma 1 (Small). It is small, and it is fast.\n\n$$x = y. \\tag{2}$$\n\nBy Lemma 1.5 of others it is. All is well."
INDEX = {
    "numbered": {"lemma 1": "by izzo-thm-4", "equation 2": "not judged: the definition of x"},
    "sentences": {"All is well.": "by izzo-thm-4; not judged: what is meant by well"},
}


@pytest.mark.parametrize("paper", INDEXED)
def test_the_index_gives_verdicts_or_reasons(paper):
    assert broken_index(index_of(paper), REGISTER, None) == []


@pytest.mark.parametrize("paper", INDEXED)
def test_every_number_of_the_paper_is_in_its_index(paper):
    file = FOLDER / f"{paper}.txt"
    if not file.is_file():
        pytest.skip("the papers' texts are not beside the checkout: they may not be passed on")
    text = file.read_text("utf-8")
    assert len(numbered(text)) >= 19
    assert broken_index(index_of(paper), REGISTER, text) == []


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
