"""Compare the register with the papers' texts: `python -m verify.papers FOLDER` says what is wrong, for FOLDER/azize.txt and the others.

A quotation is whole sentences of its paper, compared word by word. Mathematics of the text (between dollar signs or LaTeX's brackets, and every
word with a sign that no English word has) matches any words of the quotation, or none: the texts were read by machines, which lost or mangled
it. So do marks of a type face, white space, hyphens at the end of a line and references in square brackets. Each number of a paper stands in its
index, with the statement that judges it or the reason why none does.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from mipsim.referee import Quote
from verify.register import PAPERS, REGISTER, paper_of
from verify.statement import Statement

MATHEMATICS = ""
"""What stands for mathematics among words."""
ELLIPSIS = re.compile(r"\s*\[\.\.\.\]\s*")
"""Between whole sentences of a single quotation."""
PAGE = re.compile(r"\s*\[page\]\s*")
"""Within a sentence, where a figure or a footnote stands between its two halves."""
_SYMBOL = re.compile(
    r"(?!(?:not|no|nor|and|but|is|are|any)$)\w{1,3}|alpha|beta|gamma|delta|epsilon|theta|sigma|kappa|lambda|omega|infinity|muhat|thetahat|mtilde|ltilde|sqrt|prod|cosh|sinh|bern|bernoulli|"
    r"laplace|gennormal|unif|randomsplit|range|effective|targ|step|train|score|bayes|batch|miss|scal|diff|symm|true|gmip|target|adversary"
)
"""Words with which a quotation writes mathematics."""
_FORMULA = re.compile(r"\$\$.*?\$\$|\\\[.*?\\\]|\$[^$\n]*(?:\n[^$\n]+)?\$|\\\(.*?\\\)", re.DOTALL)
_REFERENCE = re.compile(r"\[\d+(?:[,;] ?(?:\d+|Corollary \d+))*\]")
_ABBREVIATION = re.compile(
    r"(?:\b(?:i\.e|e\.g|et al|vs|resp|w\.r\.t|s\.t|cf|w\.p|aka|Fig|Eq|Algo|approx|i\.i\.d))\.$"
)
_LIST = re.compile(r"\s*(?:\x01|#+ |(?:Theorem|Lemma|Remark|Corollary|Proposition|Definition) [\w.]+\s)")
_MARKER = re.compile(
    r"^[ \t]*(?:(?:[-•]|\d{1,2}:)[ \t]+)?(?:\(?(?:[a-z]|\d{1,2})[.):][ \t]+)?(?=\S)", re.MULTILINE
)
_CITED = re.compile(r"\((?:see )?[A-Z][^()]*?(?:et al\.|and)[^()]*?\d{4}[a-z]?[^()]*\)")
_PIECE = re.compile(r"\x00|\n\s*\n|\n|[^\s\x00]+")


def words_of(text: str) -> list[str]:
    """The words of a quotation, in small letters.
    >>> words_of("Let A be (eps, delta)-DP.")
    ['let', 'a', 'be', 'eps', 'delta', 'dp']
    """
    text = re.sub(r"\bnot in (?=D_)", "", text)  # a sign of set theory
    return [word.lower() for word in re.findall(r"[A-Za-z]+", _CITED.sub(" ", _REFERENCE.sub(" ", text)))]


@lru_cache(maxsize=8)
def read(text: str) -> tuple[tuple[str, ...], frozenset[int]]:
    """The words of a paper, with `MATHEMATICS` among them, and the places at which a sentence may begin.
    >>> read("Let $x$ be small. Then it is.")
    (('let', '', 'be', 'small', 'then', 'it', 'is'), frozenset({0, 4, 7}))
    """
    text = re.sub(r"(?<=[a-z])-\n+(?=[a-z])", "", text)
    text = re.sub(r"(?<=[a-z]{4})(?=[A-Z][a-z]+ )", ".\n", text)  # a heading that runs into its section
    text = _MARKER.sub(lambda match: "\1" if match[0].strip() else match[0], text)
    text = text.replace("\t", "\n\n\1")  # cells of a table
    formulas = [match[0] for match in _FORMULA.finditer(text)]
    text, place = _FORMULA.sub(" \0 ", text), 0
    text = _CITED.sub(" ", _REFERENCE.sub(" ", text))
    result: list[str] = []
    starts, ended, before = {0}, True, ""
    for piece in _PIECE.finditer(text):
        part = piece[0].lstrip("\1")
        ended = ended or part != piece[0]
        if part.startswith("\n"):
            after = text[piece.end() : piece.end() + 60]
            new = _LIST.match(after) or ("\n" in part[1:] and re.match(r"[\s*_\"“(]*[A-Z#]", after))
            if ended and "\n" in part[1:]:
                starts.add(len(result))
            ended = ended or bool(new)
            continue
        if ended and (part == "\0" or not re.match(r"[*_(\"“]*[a-z]", part)):
            starts.add(len(result))
        ended = False
        if part == "\0":
            if result[-1:] != [MATHEMATICS] or len(result) in starts:
                result.append(MATHEMATICS)
            ended = (
                re.search(r"\.\s*(?:\\(?:tag|quad)\s*\S*\s*|\(\d+\))*(?:\$|\\)", formulas[place][2:])
                is not None
            )
            place += 1
        else:
            bare = part.strip("*_#\"“”'’`.,;:?!()[]|-")
            if bare and re.fullmatch(r"[A-Za-z][A-Za-z'’/-]*(?:\.[a-z]+)*", bare):
                result += words_of(bare)
            elif bare:
                plain = bare.isascii() and not re.search(r"[\\^_{}=]", bare)
                result += [MATHEMATICS, *(words_of(bare) if plain else [])]
            elif re.fullmatch(r"[.:*_\"”)]+", part) and "." in part:
                ended = True
        full = (before + part)[-12:]
        if re.search(r"[.?!]:?[*_\"”’')]*$", part) and not _ABBREVIATION.search(
            re.sub(r"[*_\"”’')]+$", "", full)
        ):
            ended = True
        before = part + " "
    starts.add(len(result))
    return tuple(result), frozenset(starts)


def symbol(word: str) -> bool:
    """Whether a quotation may write mathematics with this word."""
    return _SYMBOL.fullmatch(word) is not None


def _ends(words: Sequence[str], start: int, quoted: Sequence[str]) -> Iterator[int]:
    """The places after which the quotation is used up, if its first word stands at `start`."""
    seen: set[tuple[int, int, bool]] = set()
    stack = [(start, 0, False)]
    while stack:
        here, used, loose = stack.pop()
        if (here, used, loose) in seen:
            continue
        seen.add((here, used, loose))
        if used == len(quoted):
            yield here
        if here == len(words):
            continue
        if words[here] == MATHEMATICS:
            stack.append((here + 1, used, True))
            if used < len(quoted) and symbol(quoted[used]):
                stack.append((here, used + 1, loose))
        elif used < len(quoted):
            if loose and symbol(quoted[used]):
                stack.append((here, used + 1, True))
            if words[here] == quoted[used]:
                stack.append((here + 1, used + 1, False))


def whole(text: str, quotation: str) -> str:
    """Why a quotation is not whole sentences of a text; "" where it is.
    `text`: of the paper; `quotation`: sentences; "[...]" between two that do not follow each other.

    >>> paper = "We assume little. Then $A$ is private, and $B$ is too."
    >>> whole(paper, "Then A is private, and B is too."), whole(paper, "Then A is private")
    ('', 'ends inside a sentence: Then A is private')
    >>> whole(paper, "is private, and B is too.")
    'begins inside a sentence: is private, and B is too.'
    >>> whole(paper, "Then A is safe.")
    'is not in the text: Then A is safe.'
    """
    words, starts = read(text)
    pieces = [
        (half, halves)
        for part in ELLIPSIS.split(quotation)
        for halves in [PAGE.split(part)]
        for half in halves
    ]
    for part, halves in pieces:
        quoted, problem = words_of(part), "is not in the text"
        begins, closes = part == halves[0], part == halves[-1]
        for start in range(len(words)):
            if words[start] not in (MATHEMATICS, quoted[0]) or (
                words[start] == MATHEMATICS and start not in starts
            ):
                continue
            ends = [*_ends(words, start, quoted)]
            whole_start = start in starts or not begins
            if ends and whole_start and (not closes or any(_closed(words, starts, end) for end in ends)):
                break
            if ends:
                problem = "ends inside a sentence" if whole_start else "begins inside a sentence"
        else:
            return f"{problem}: {part}"
    return ""


def _closed(words: Sequence[str], starts: frozenset[int], end: int) -> bool:
    """Whether a sentence ends here, but for mathematics."""
    while end not in starts and words[end] == MATHEMATICS:
        end += 1
    return end in starts


_KINDS = "Theorem|Lemma|Corollary|Proposition|Remark|Definition|Algorithm|Figure|Table"
_HEAD = re.compile(
    rf"^[ *_]*({_KINDS}) ([A-F]?\.?\d+(?:\.\d+)*)(?![\d]|\.\d)(?=[*_ ]*[.:(]| [A-Z(])", re.MULTILINE
)
_EQUATION = re.compile(
    r"\\tag\{(\d+)\}|\\quad\s*\((\d+)\)\s*\$\$|\((\d+)\)\s*\$\$|^\s*\((\d+)\)\s*$|\$\s*\((\d+)\)\s*$",
    re.MULTILINE,
)


def numbered(text: str) -> set[str]:
    """All that a paper numbers: "lemma C.8", "equation 5".
    >>> sorted(numbered("Lemma 3 (Small). By Lemma 4 it is."))
    ['lemma 3']
    """
    heads = {f"{kind.lower()} {number}" for kind, number in _HEAD.findall(text)}
    return heads | {f"equation {next(filter(None, groups))}" for groups in _EQUATION.findall(text)}


def index_of(paper: str) -> dict[str, dict[str, str]]:
    """The index of a paper: "numbered" and "sentences", each from what is asserted to who judges it.

    An entry reads "by NAME, NAME", "not judged: REASON", or both with a semicolon between.
    """
    path = Path(__file__).parent / paper / "index.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def broken_index(
    entries: Mapping[str, Mapping[str, str]], register: Mapping[str, Statement], text: str | None
) -> list[str]:
    """What is wrong with the index of a paper: a number that is missing or not in the text, no verdict and no reason.
    `entries`: as `index_of` returns them; `register`: name -> statement; `text`: of the paper; None where it is not at
    hand.

    >>> broken_index({"numbered": {"lemma 3": "not judged: soon"}, "sentences": {}}, {}, "Lemma 4. It is.")
    ['lemma 3: no reason', 'lemma 3 is not in the text', 'lemma 4 is missing']
    """
    result = []
    for place, verdict in (*entries["numbered"].items(), *entries["sentences"].items()):
        match = re.fullmatch(r"(?:by ([\w., -]+))?(?:; )?(?:not judged: (.+))?", verdict)
        names, reason = match.groups() if match else (None, None)
        if (reason is not None and len(reason) < 10) or (names, reason) == (None, None):
            result.append(f"{place}: no reason")
        result += [
            f"{place}: {name} is no printed statement of the register"
            for name in (names.split(", ") if names else ())
            if name not in register or register[name].corrects
        ]
    if text is not None:
        there = numbered(text)
        result += [f"{place} is not in the text" for place in entries["numbered"] if place not in there]
        result += [f"{place} is missing" for place in sorted(there - set(entries["numbered"]))]
        result += [why for sentence in entries["sentences"] if (why := whole(text, sentence))]
    return result


def broken_quotes(register: Mapping[str, Statement], texts: Mapping[str, str]) -> list[str]:
    """What is wrong with the quotations: each is whole sentences of its paper, and says what it leaves to whom.
    `register`: name -> statement; `texts`: first word of the names of a paper's statements -> its text; quotations of
    other papers are not looked at.

    >>> broken_quotes({}, {})
    []
    """
    result = [line for item in register.values() for line in _unjudged(item, register)]
    seen: set[tuple[str, Quote]] = set()
    for item in register.values():
        paper = paper_of(item.name)
        if item.quote is None or paper not in texts:
            continue
        for quote in (item.quote, *(item.slip or ()), *item.restricted_by):
            if (paper, quote) not in seen and (why := whole(texts[paper], quote.text)):
                result.append(f"a quotation of {item.name} {why}")
            seen.add((paper, quote))
    return result


def _unjudged(item: Statement, register: Mapping[str, Statement]) -> list[str]:
    result = []
    for words, reason in item.not_judged.items():
        if item.quote is None or words not in item.quote.text:
            result.append(f"{item.name} does not judge {words!r}, which it does not quote")
        judges = reason.removeprefix("by ").split(", ") if reason.startswith("by ") else []
        for name in judges:
            other = register.get(name)
            if other is None or other.corrects or other.quote is None or words not in other.quote.text:
                result.append(f"{item.name} leaves {words!r} to {name}, which quotes no such words")
            elif words in other.not_judged:
                result.append(f"{item.name} and {name} leave {words!r} to others")
        if not judges and len(reason) < 20:
            result.append(f"{item.name} does not judge {words!r} and gives no reason: {reason!r}")
    return result


def violations(register: Mapping[str, Statement], texts: Mapping[str, str]) -> list[str]:
    """All that is wrong with quotations and indexes.
    `register`: name -> statement; `texts`: first word of the names of a paper's statements -> its text, of those at hand.

    >>> violations({}, {})[0].startswith("theorem")
    True
    """
    papers = [name for name in PAPERS if name != "field"]
    result = broken_quotes(register, texts)
    return result + [
        line for name in papers for line in broken_index(index_of(name), register, texts.get(name))
    ]


def texts_in(folder: Path) -> dict[str, str]:
    """First word of the names of a paper's statements -> its text, of those that lie in a folder."""
    return {name: file.read_text("utf-8") for name in PAPERS if (file := folder / f"{name}.txt").is_file()}


if __name__ == "__main__":
    wrong = violations(REGISTER, texts_in(Path(sys.argv[1])))
    print("\n".join(wrong) or "Every quotation and every index is in order.")
    sys.exit(bool(wrong))
