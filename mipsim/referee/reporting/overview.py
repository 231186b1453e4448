"""The head of a report: how many statements stand, and the table of all verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape

from mipsim.referee.defect import Defect, correction_of, defect_of
from mipsim.referee.outcome import Outcome
from mipsim.referee.reporting.wording import interval, three_digits
from mipsim.referee.result import Verdict
from mipsim.referee.statement import Statement


def badge(verdict: object | None) -> str:
    """Return a verdict as a coloured word; None is "not judged"."""
    word = "not judged" if verdict is None else str(verdict)
    return f'<span class="badge {word.lower().replace(" ", "-")}">{word}</span>'


def standing(outcome: Outcome, correction: Statement | None) -> str:
    """The verdict, with the defect of what is refuted.

    Args:
        outcome: what judging or hunting returned.
        correction: the corrected statement, if there is one.
    """
    defect = defect_of(outcome, correction)
    return str(outcome.verdict) if defect is None else f"{outcome.verdict}: {defect}"


def counts(outcomes: Sequence[Outcome], known: Sequence[Statement]) -> dict[str, dict[str, int]]:
    """How many "statements" and "corrections" have each `standing`, the good news first; only what occurs.

    Args:
        outcomes: what is counted.
        known: statements among which corrections are looked up.

    Examples:
        >>> counts([], [])
        {}
    """
    found: dict[str, dict[str, int]] = {}
    for name, corrects in (("statements", False), ("corrections", True)):
        words = Counter(
            standing(one, correction_of(one.statement, known))
            for one in outcomes
            if bool(one.statement.corrects) is corrects
        )
        if words:
            found[name] = {word: words[word] for word in sorted(words, key=_good_news_first)}
    return found


def _good_news_first(word: str) -> tuple[int, int]:
    verdict, _, defect = word.partition(": ")
    return list(Verdict).index(Verdict(verdict)), list(Defect).index(Defect(defect)) if defect else 9


def verdict_counts(outcomes: Sequence[Outcome], known: Sequence[Statement]) -> str:
    """Return how many statements and corrections have each verdict, as HTML."""
    parts = []
    for name, words in counts(outcomes, known).items():
        items = ""
        for word, amount in words.items():
            verdict, _, defect = word.partition(": ")
            meaning = f"<small>{Defect(defect).meaning}</small>" if defect else ""
            items += f'<li class="{verdict.lower()}"><b>{amount}</b>{word}{meaning}</li>'
        total = sum(words.values())
        heading = f"{total:,} {name if total != 1 else name.removesuffix('s')}"
        parts.append(f'<h2>{heading}</h2><ul class="counts" aria-label="Verdicts of {name}">{items}</ul>')
    return "".join(parts)


def facts_list(facts: Mapping[str, str] | None) -> str:
    """Return names and values as an HTML list; empty without any."""
    rows = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in (facts or {}).items()
    )
    return f'<dl class="facts">{rows}</dl>' if rows else ""


def group_list(links: Mapping[str, tuple[str, str]] | None) -> str:
    """Return the full titles of groups as an HTML list, linked where there is an address of the web; empty without any.

    Examples:
        >>> group_list({"Student (1908)": ("The probable error of a mean", "")})
        '<ul class="groups" aria-label="Sources"><li>Student (1908): <cite>The probable error of a mean</cite></li></ul>'
    """
    rows = ""
    for group, (title, address) in (links or {}).items():
        cited = f"<cite>{escape(title)}</cite>"
        leads = address.startswith(("https://", "http://"))
        linked = f'<a href="{escape(address, quote=True)}">{cited}</a>' if leads else cited
        rows += f"<li>{escape(group)}: {linked}</li>"
    return f'<ul class="groups" aria-label="Sources">{rows}</ul>' if rows else ""


def verdicts_table(
    outcomes: Sequence[Outcome],
    known: Sequence[Statement],
    groups: Callable[[Statement], str] | None = None,
) -> str:
    """Return the table of all verdicts, a row each, as HTML; the page's script lets it be searched, narrowed and sorted.

    Args:
        outcomes: a row each.
        known: statements among which corrections are looked up.
        groups: what a statement belongs to.
    """
    columns = ("statement", "verdict", "defect", "stands at", "worst gap", "interval", "points", "seconds")
    head = "".join(f'<th scope="col">{word}</th>' for word in columns)
    rows = ""
    for one in outcomes:
        name = one.statement.name
        unit = "" if one.worst is None else f" {escape(one.worst.unit)}"
        share = "–" if math.isnan(one.share) else f"{one.share:.0%}"
        cells = (
            (-one.share, share),
            (one.gap, three_digits(one.gap) + unit),
            (one.interval[1] - one.interval[0], interval(one.interval)),
            (len(one.judged) + len(one.probes), f"{len(one.judged) + len(one.probes):,}"),
            (one.seconds, f"{one.seconds:.1f}"),
        )
        defect = defect_of(one, correction_of(one.statement, known)) or "–"
        kin = escape(groups(one.statement) if groups else "", quote=True)
        rows += (
            f'<tr data-group="{kin}" data-verdict="{one.verdict}" data-defect="{defect}" '
            f'data-text="{escape(_searched(one.statement), quote=True)}"><th scope="row"><a href="#{escape(name, quote=True)}">{escape(name)}</a></th>'
            f"<td>{badge(one.verdict)}</td><td>{defect}</td>"
            + "".join(f'<td class="num" data-key="{_key(key)}">{text}</td>' for key, text in cells)
            + "</tr>"
        )
    table = f'<table class="verdicts"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    region = 'class="scroll" role="region" tabindex="0" aria-label="Table of verdicts"'
    return f'<div class="card" id="verdicts"><h2>Verdicts</h2><div {region}>{table}</div></div>'


def _searched(statement: Statement) -> str:
    """The words that a statement is found by."""
    quote = "" if statement.quote is None else statement.quote.text
    return " ".join(f"{statement.name} {statement.source} {statement.says} {quote}".lower().split())


def _key(value: float) -> str:
    # What the sorting script compares: numbers it can read, the missing ones after all others.
    return "Infinity" if math.isnan(value) or value == math.inf else f"{value:.9g}"
