"""The head of a report: how many statements stand, and the numbers in the table of all verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from mipsim.referee.defect import Defect, correction_of, defect_of
from mipsim.referee.gap_words import lone_gap
from mipsim.referee.outcome import Outcome
from mipsim.referee.reporting.wording import interval
from mipsim.referee.result import Verdict
from mipsim.referee.statement import Statement


def standing(outcome: Outcome, correction: Statement | None) -> str:
    """The verdict, with the defect of what is refuted.
    `outcome`: what judging or hunting returned; `correction`: the corrected statement, if there is any.
    """
    defect = defect_of(outcome, correction)
    return str(outcome.verdict) if defect is None else f"{outcome.verdict}: {defect}"


def counts(outcomes: Sequence[Outcome], known: Sequence[Statement]) -> dict[str, dict[str, int]]:
    """How many "statements" and "corrections" have each `standing`, the good news first; only what occurs.
    `known`: statements among which corrections are looked up.

    >>> counts([], [])
    {}
    """
    result: dict[str, dict[str, int]] = {}
    for name, corrects in (("statements", False), ("corrections", True)):
        words = Counter(
            standing(item, correction_of(item.statement, known))
            for item in outcomes
            if bool(item.statement.corrects) is corrects
        )
        if words:
            result[name] = {word: words[word] for word in sorted(words, key=_good_news_first)}
    return result


def _good_news_first(word: str) -> tuple[int, int]:
    verdict, _, defect = word.partition(": ")
    return list(Verdict).index(Verdict(verdict)), list(Defect).index(Defect(defect)) if defect else 9


def cells(outcome: Outcome) -> list[tuple[str, str]]:
    """The numbers of a row in the table of verdicts: what the page's script sorts by, and what is read.
    `outcome`: what judging or hunting returned.
    """
    worst, (low, high) = outcome.worst, outcome.interval
    points = len(outcome.judged) + len(outcome.probes)
    broken = outcome.broken.partition(" evenly")[0]
    if not outcome.spread[1] and len(outcome.judged) == 1:
        broken = f"{int(outcome.judged[0].verdict is Verdict.REFUTED)} of 1"
    result = (
        (-outcome.share, broken),
        (
            outcome.gap,
            f"{lone_gap(outcome.gap, outcome.interval)} {'' if worst is None else worst.unit}".rstrip(),
        ),
        (high - low, interval(outcome.interval)),
        (points, f"{points:,}"),
        (outcome.seconds, f"{outcome.seconds:.1f}"),
    )
    return [(_key(key), text) for key, text in result]


def searched(statement: Statement) -> str:
    """The words by which the page's search finds a statement.
    `statement`: of a row in the table of verdicts.
    """
    quote = "" if statement.quote is None else statement.quote.text
    return " ".join(f"{statement.name} {statement.source} {statement.says} {quote}".lower().split())


def _key(value: float) -> str:
    # What the sorting script compares: numbers it can read, the missing ones after all others.
    return "Infinity" if math.isnan(value) or value == math.inf else f"{value:.9g}"
