"""What each paper asserts, by its own numbers and by its sentences: which statement judges it, or why none does."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from mipsim.referee import Statement
from verify.sentences import whole

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
