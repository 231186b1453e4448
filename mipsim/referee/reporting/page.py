"""The report of a judge or a hunt: a page that needs nothing beside it, and the same as data."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mipsim._files import replace_file, writable_folder
from mipsim._words import plural
from mipsim.referee.defect import correction_of, defect_of, diagnose, readings_of
from mipsim.referee.gap_words import gap_is
from mipsim.referee.outcome import Outcome, titled_examples
from mipsim.referee.replay import replay_of
from mipsim.referee.reporting.overview import cells, counts, searched
from mipsim.referee.reporting.pictures import keep
from mipsim.referee.reporting.plain import plain
from mipsim.referee.reporting.rendering import document
from mipsim.referee.reporting.where import importance
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.statement import Statement

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
    several = [results] if isinstance(results, Outcome) else list(results)
    if not several:
        raise ValueError("results is empty; it must hold what judge or hunt returned")
    if wrong := [item for item in several if not isinstance(item, Outcome)]:
        raise ValueError(f"results holds {type(wrong[0]).__name__}; it must hold what judge or hunt returned")
    where = writable_folder("folder", Path(folder))
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
            "importance": importance(outcome),
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
) -> str:
    """Return the whole page as a single HTML document that needs nothing beside it."""
    known = [*(item.statement for item in outcomes), *known]
    met = Counter[str]()
    rows = []
    for single in outcomes:
        name = single.statement.name
        met[name] += 1  # a statement that was judged and hunted has two sections
        anchor = name if met[name] == 1 else f"{name}.{met[name]}"
        group = groups(single.statement) if groups else ""
        correction = correction_of(single.statement, known)
        rows.append(_row(single, correction, commands or _command, anchor) | {"group": group})
    words: dict[str, Any] = {"title": title, "lead": lead, "note": note, "data": data}
    words |= {"counts": counts(outcomes, known), "facts": facts or {}, "links": links or {}, "rows": rows}
    words |= {"shown": {item.statement.name for item in outcomes}, "most": SHOWN, "listed": LISTED}
    of = plural(len(outcomes), "statement")
    return document("report.html", scripted=len(outcomes) > 1, of=of, **words)


def _row(
    outcome: Outcome,
    correction: Statement | None,
    command: Callable[[Outcome, PointResult], str],
    anchor: str,
) -> dict[str, Any]:
    """What the page tells of an outcome, beside what the outcome itself holds."""
    from markupsafe import Markup

    pictures, statement, shown = keep(outcome), outcome.statement, titled_examples(outcome)
    # A statement of your own, of which nothing else was tried, has no class.
    tried = correction or statement.quote or statement.slip or statement.restored_by or readings_of(outcome)
    diagnosis = diagnose(outcome, correction) if tried else None
    return {
        "outcome": outcome,
        "statement": outcome.statement,
        "anchor": anchor,
        "searched": searched(outcome.statement),
        "cells": cells(outcome),
        "correction": correction,
        "defect": diagnosis and diagnosis.defect,
        "reason": diagnosis and diagnosis.reason,
        "readings": readings_of(outcome),
        "examples": [
            (title, point, command(outcome, point), end)
            for end, (title, point) in zip(("simple", "worst")[2 - len(shown) :], shown, strict=True)
        ],
        "extent": outcome.extent,
        "spread": f"It is {outcome.where_broken}." if outcome.spread[1] else "",
        "map": Markup(pictures.where),
        "curve": Markup(pictures.curve),
        "failed": (
            (FAILED, [(item.at, item.error) for item in outcome.failures]),
            (NO_CURVE, [(single.at, single.what) for single in outcome.findings]),
        ),
        "points": _ranked(outcome),
        "weights": importance(outcome),
    }


def _command(outcome: Outcome, point: PointResult) -> str:
    """The command that judges a point again."""
    if point is outcome.worst:
        return outcome.replay.shell
    return replay_of(outcome.statement, point, outcome.confidence, outcome.seed, point.games).shell


def _ranked(outcome: Outcome) -> list[PointResult]:
    """The judged points, those with the strongest verdict first.

    Of each verdict it is the largest gap of each unit first, then the second of each: gaps of two units are not compared.
    """
    order = (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.CONFIRMED)
    by_size = sorted(outcome.judged, key=lambda item: -abs(item.gap) if item.gap == item.gap else 0)
    seen: Counter[tuple[str, str]] = Counter()
    places = []
    for item in by_size:
        kin = (item.verdict, item.unit)
        places.append((order.index(item.verdict), seen[kin]))
        seen[kin] += 1
    return [single for _, single in sorted(zip(places, by_size, strict=True), key=lambda pair: pair[0])]
