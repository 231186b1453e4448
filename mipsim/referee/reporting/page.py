"""The report of a judge or a hunt: a page that needs nothing beside it, and the same as data.

Whatever a template is given is escaped, whoever wrote it. Markup are only a formula that has passed `mathml`, a picture of
matplotlib's, a table of `_repr_html_`, and the style and the script of this folder.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mipsim._files import replace_file, writable_folder
from mipsim._validation import member, texts
from mipsim._words import plural
from mipsim.referee import mathml
from mipsim.referee.defect import Defect, correction_of, defect_of, diagnose, readings_of
from mipsim.referee.gap_words import gap_is, lone_gap
from mipsim.referee.outcome import Outcome, titled_examples
from mipsim.referee.replay import replay_of
from mipsim.referee.reporting import wording
from mipsim.referee.reporting.pictures import keep
from mipsim.referee.reporting.plain import plain
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.statement import Statement

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).with_name("templates")
SHOWN = 12
"""Judged points that are listed, those with the strongest verdict first; all are in the data."""
LISTED = 8
"""Failures and findings that are listed."""
FAILED = "points failed: its functions raised, or returned what they must not"
NO_CURVE = "points at which the claimed curve is no trade-off function"
LEAD = (
    "Each statement is judged at points of its domain: by exact curves if they are known, otherwise by games. CONFIRMED: it "
    "holds at every judged point; their number stands beside the word, and judged is not searched. REFUTED: it fails at some "
    "point, beyond the proven error or at the stated failure probability. INCONCLUSIVE: the evidence decides neither."
)


def report(
    results: Outcome | Sequence[Outcome],
    folder: str | os.PathLike[str],
    *,
    facts: Mapping[str, str] | None = None,
) -> Path:
    """Write `index.html` and `results.json` into a folder; the page needs nothing beside it.

    Args:
        results: what `judge` and `hunt` returned.
        folder: created if it does not exist.
        facts: names and values that the page shows below its head, such as when it was made.

    Returns:
        The path of the page.

    Raises:
        ValueError: if there are no results, an entry is none, or the folder cannot be written.

    Examples:
        >>> import tempfile
        >>> from mipsim import referee as rf
        >>> square = rf.Statement(
        ...     name="square", says="x^2 <= x", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 2.0)},
        ...     claimed=lambda x: x, truth=lambda x: x * x,
        ... )
        >>> page = rf.report(rf.hunt(square, "64 probes", progress=False), tempfile.mkdtemp())
        >>> page.name, "REFUTED" in page.read_text(encoding="utf-8")
        ('index.html', True)
    """
    whose = "what judge or hunt returned"
    several = (
        [results] if isinstance(results, Outcome) else list(member("results", results, (list, tuple), whose))
    )
    if not several:
        raise ValueError(f"results is empty; it must hold {whose}")
    for item in several:
        member("an entry of results", item, Outcome, whose)
    facts = texts("facts", facts)
    where = writable_folder("folder", folder)
    known = [single.statement for single in several]
    data = json.dumps(
        [record(item, correction_of(item.statement, known)) for item in several],
        indent=1,
        allow_nan=False,
    )
    replace_file(where / "results.json", data + "\n", follow=False)
    replace_file(where / "index.html", page(several, facts=facts), follow=False)
    return where / "index.html"


def record(outcome: Outcome, correction: Statement | None = None) -> dict[str, Any]:
    """The outcome as JSON holds it.
    `outcome`: what judging or hunting returned; `correction`: the corrected statement, which tells a missing condition
    from a wrong formula.
    """
    return plain(
        {
            "statement": outcome.statement.record(),
            "verdict": outcome.verdict,
            "defect": defect_of(outcome, correction),
            "readings": readings_of(outcome),
            "corrected_by": None if correction is None else correction.name,
            "point": outcome.point,
            "gap": outcome.gap,
            "gap_is": gap_is(outcome.gap, outcome.interval),
            "interval": outcome.interval,
            "share": outcome.share,
            "extent": outcome.extent,
            "frontier": outcome.frontier,
            "how": outcome.how,
            "confidence": outcome.confidence,
            "seed": outcome.seed,
            "budget": outcome.budget,
            "seconds": outcome.seconds,
            "interrupted": outcome.interrupted,
            "replay": vars(outcome.replay),
            "judged": [item.record() for item in outcome.judged],
            "probes": [vars(probe) for probe in outcome.probes],
            "failures": [vars(failure) for failure in outcome.failures],
            "findings": [vars(finding) for finding in outcome.findings],
        }
    )


def page(
    outcomes: Sequence[Outcome],  # a section each, in this order
    *,
    # statements beside those of `outcomes` among which corrections are looked up
    known: Sequence[Statement] = (),
    title: str = "The referee’s report",  # the head of the page
    lead: str = LEAD,  # the words below it
    facts: Mapping[str, str] | None = None,  # names and values of the settings
    note: str = "",  # what the reader must know first, such as that the run is not finished
    data: str = "results.json",  # the file beside the page that holds the same
    # the command that shows a judged point again; else that of `mipsim judge`
    commands: Callable[[Outcome, PointResult], str] | None = None,
    # what a statement belongs to, such as a paper: the table can be narrowed to a single group
    groups: Callable[[Statement], str] | None = None,
    links: Mapping[str, tuple[str, str]] | None = None,  # group -> its full title, and an address or ""
    certificates: Mapping[str, str]
    | None = None,  # name of a statement -> the file of its certificate, beside the page
) -> str:
    """Return the whole page as a single HTML document that needs nothing beside it."""
    known = [*(item.statement for item in outcomes), *known]
    met = Counter[str]()
    rows = []
    for single in outcomes:
        name = single.statement.name
        met[name] += 1  # a statement that was judged and hunted has two sections
        anchor = name if met[name] == 1 else f"{name}.{met[name]}"
        row = _row(single, correction_of(single.statement, known), commands or _command)
        more = {
            "group": groups(single.statement) if groups else "",
            "certificate": (certificates or {}).get(name, ""),
        }
        rows.append(row | {"anchor": anchor} | more)
    return document(
        "report.html",
        scripted=len(outcomes) > 1,
        of=plural(len(outcomes), "statement"),
        title=title,
        lead=lead,
        note=note,
        data=data,
        counts=counts(outcomes, known),
        facts=facts or {},
        links=links or {},
        rows=rows,
        shown={item.statement.name for item in outcomes},
        most=SHOWN,
        listed=LISTED,
    )


def _row(
    outcome: Outcome, correction: Statement | None, command: Callable[[Outcome, PointResult], str]
) -> dict[str, Any]:
    """What the page tells of an outcome, beside what the outcome itself holds."""
    from markupsafe import Markup

    statement, shown = outcome.statement, titled_examples(outcome)
    readings = readings_of(outcome)
    # A statement of your own, of which nothing else was tried, has no class.
    tried = (
        correction
        or statement.fails
        or statement.quote
        or statement.slip
        or statement.restored_by
        or readings
    )
    diagnosis = diagnose(outcome, correction) if tried else None
    quote = "" if statement.quote is None else statement.quote.text
    return {
        "outcome": outcome,
        "statement": statement,
        "searched": " ".join(f"{statement.name} {statement.source} {statement.says} {quote}".lower().split()),
        "cells": cells(outcome),
        "correction": correction,
        "defect": diagnosis and diagnosis.defect,
        "reason": diagnosis and diagnosis.reason,
        "readings": readings,
        "examples": [
            (title, point, command(outcome, point), end)
            for end, (title, point) in zip(("simple", "worst")[2 - len(shown) :], shown, strict=True)
        ],
        "extent": outcome.extent,
        "spread": f"It {outcome.where_broken}." if outcome.spread[1] else "",
        "curve": Markup(keep(outcome)),
        "failed": (
            (FAILED, [(item.at, item.error) for item in outcome.failures]),
            (NO_CURVE, [(single.at, single.what) for single in outcome.findings]),
        ),
        "points": _ranked(outcome),
    }


def _command(outcome: Outcome, point: PointResult) -> str:
    """The command that judges a point again."""
    if point is outcome.worst:
        return outcome.replay.shell
    return replay_of(outcome.statement, point, outcome.confidence, outcome.seed, point.games).shell


def _ranked(outcome: Outcome) -> list[PointResult]:
    """The judged points, those with the strongest verdict first; of each verdict by unit, the largest gaps first."""
    order = (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.CONFIRMED)

    def place(item: PointResult) -> tuple[int, str, float]:
        gap = item.gap if outcome.statement.kind.one_sided else abs(item.gap)
        return order.index(item.verdict), item.unit, math.inf if math.isnan(gap) else -gap

    return sorted(outcome.judged, key=place)


def counts(outcomes: Sequence[Outcome], known: Sequence[Statement]) -> dict[str, dict[str, int]]:
    """How many "statements" and "corrections" have each verdict, with the defect of what is refuted, the good news first; only what occurs.
    `known`: statements among which corrections are looked up.

    >>> counts([], [])
    {}
    """
    result: dict[str, dict[str, int]] = {}
    for name, corrects in (("statements", False), ("corrections", True)):
        words: Counter[tuple[Verdict, Defect | None]] = Counter(
            (item.verdict, defect_of(item, correction_of(item.statement, known)))
            for item in outcomes
            if bool(item.statement.corrects) is corrects
        )
        if words:
            ranks = [*Verdict, *Defect, None]
            order = sorted(words, key=lambda pair: [ranks.index(word) for word in pair])
            result[name] = {": ".join(filter(None, pair)): words[pair] for pair in order}
    return result


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
        (high - low, wording.interval(outcome.interval)),
        (points, f"{points:,}"),
        (outcome.seconds, f"{outcome.seconds:.1f}"),
    )
    # What the sorting script compares: numbers it can read, the missing ones after all others.
    return [
        ("Infinity" if math.isnan(key) or key == math.inf else f"{key:.9g}", text) for key, text in result
    ]


@cache
def environment() -> Environment:
    """The templates, and how they write numbers and formulas."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    result = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    result.filters |= {
        name: getattr(wording, name)
        for name in (
            "claimed_and_true",
            "count",
            "duration",
            "formula_is_quoted",
            "interval",
            "paragraphs",
            "reached",
        )
    }
    result.filters |= {
        "plural": plural,
        "lone_gap": lone_gap,
        "parameters": lambda point: wording.parameters(plain(point)),
        "meaning": lambda standing: Defect(standing.partition(": ")[2]).meaning,
        "words": lambda text: Markup(mathml.words(text)),
        "formula": lambda latex: Markup(mathml.to_mathml(latex, block=True)),
    }
    return result


def document(template: str, *, scripted: bool = False, **words: Any) -> str:
    """Return a whole page.
    `template`: name of a file that fills `document.html`; `scripted`: whether the page runs the script of its table;
    `words`: what the template takes; for the frame `title`, `lead` (the words below the title), `of` (what the page is
    about, for the title of the window), `note` (what the reader must know first) and `data` (the file beside it that
    holds the same).

    >>> document("document.html", title="A & B", lead="words").count("A &amp; B")
    2
    """
    from markupsafe import Markup

    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    script = (FOLDER / "table.js").read_text(encoding="utf-8") if scripted else ""
    frame = {"of": "", "note": "", "data": "results.json", "policy": _policy(style, script)}
    page = environment().get_template(template)
    return page.render(frame | words, style=Markup(style), script=Markup(script)) + "\n"


def _policy(style: str, script: str) -> str:
    """What a browser may do with the page: draw it by its own style, run its own script, and load or send nothing.

    Whatever else might stand in the page, from a statement or from the name of a file, is not run. Pictures and
    tables have colours and alignments in attributes, which no digest can vouch for.

    Source: W3C, "Content Security Policy Level 3".
    """
    return (
        f"default-src 'none'; img-src data:; script-src {_source(script)}; style-src {_source(style)}; style-src-attr 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    if not text:
        return "'none'"
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
