"""The pages are plain: short sentences, no phrase that must be read twice, numbers as the field writes them."""

import re
import statistics
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
MEDIAN, LONGEST = 18, 35  # words in a sentence

BANNED = {
    r"\blaws?\b": "distribution",
    r"\b(told|heard|asked|dear|beforehand)\b": "name the actor and the act",
    r"\b(goes|go|going) on\b": "continues, resumes",
    r"\b(hangs?|hanging) together\b": "depends on each other",
    r"\bas far as one\b|\bthan the one\b|\b(first|second|true|other|confirm) one\b|\bone (may|can|must|should|wants|likes)\b": "name the thing",
    r"\b(the|each|every|which|this|that|such an?) ones?\b": "name the thing",
    r"\bwhat is not there\b|\bit is there for\b": "name the thing",
    r"\bhardly any\w*|\bsome \d": "say how much: nothing else, about",
    r"\bin a sentence\b": "with an error that explains why",
    r"(?<![\w.)\]])[-+]?\.\d": "write 0.3, not .3",
    r"\d %": "write 2%, without a space",
}
"""What no page may say -> what to write in its place. Code and formulas are not read."""

MOST = {"one": 820, "found": 140, "kept": 112} | dict.fromkeys(
    ["asked", "drawn", "heard", "said", "told"], 0.0
)
"""Word -> how often code and prose may have it per million words: at most twice as often as Equinox 0.13.8."""
QUOTED = re.compile("(x'|is) drawn from the data distribution|for each drawn sample")  # Leemann et al. (2023)


def plain(text: str) -> str:
    """A page without its head, code blocks, code, formulas and targets of links."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^(`{3,}|:{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^ {4,}(?![-*]).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$|``.*?``|`[^`]*`", "x", text, flags=re.DOTALL)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def sentences(text: str) -> list[str]:
    """The sentences of a page's paragraphs and lists. Headings and tables have none.

    A colon ends a sentence only before a capital letter.
    """
    result: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)|\n(?=#)|(?<=^)(?=#)", plain(text)):
        words = " ".join(paragraph.split())
        if words and not words.startswith(("|", "#", ">", "<", "(")):
            words = re.sub(r"^([-*+]|\d+\.)\s+", "", words)
            result += [
                part for part in re.split(r'(?<=[.!?:])[*)]*\s+(?=[A-Z*"(]|x\b|mipsim\b)', words) if part
            ]
    return result


def lengths(text: str) -> list[tuple[int, str]]:
    return sorted(((len(sentence.split()), sentence) for sentence in sentences(text)), reverse=True)


def banned(text: str) -> list[str]:
    """Each banned phrase of a page, with the words around it and what to write."""
    words = " ".join(plain(text).split())
    return [
        f"...{words[max(0, hit.start() - 30) : hit.end() + 30]}... ({advice})"
        for pattern, advice in BANNED.items()
        for hit in re.finditer(pattern, words, flags=re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sentences_are_short(page: Path) -> None:
    result = lengths(page.read_text("utf-8"))
    print(*(f"{n:3} {sentence}" for n, sentence in result[:10]), sep="\n")
    assert not result or result[0][0] <= LONGEST
    assert not result or statistics.median(n for n, _ in result) < MEDIAN


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_banned_phrase(page: Path) -> None:
    assert banned(page.read_text("utf-8")) == []


def test_code_and_prose_use_the_words_of_the_field() -> None:
    folders = [ROOT / name for name in ["mipsim", "sims", "verify", "tests", "figures", "docs", ".ci"]]
    files = [*ROOT.glob("*.md"), *(file for folder in folders for file in folder.rglob("*.[pm][yd]"))]
    texts = [
        file.read_text("utf-8") for file in files if file != Path(__file__) and "_build" not in file.parts
    ]
    words = Counter(re.findall(r"[a-z]+", QUOTED.sub("", "".join(texts)).lower()))
    rates = {word: 1e6 * words[word] / words.total() for word in MOST}
    print(rates)
    assert {word: rate for word, rate in rates.items() if rate > MOST[word]} == {}


def test_the_checks_see_what_they_forbid() -> None:
    assert [n for n, _ in lengths("Short. " + "Word " * 36 + "end.\n\n- An item.")] == [37, 2, 1]
    assert len(banned("A gap of .3 is told, and the law goes on by 2 %.")) == 5
    assert banned("```python\nx = .3\n```\nA gap of 0.3, `law` and $.3$; 4.3, figure 2.") == []
