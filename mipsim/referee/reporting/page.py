"""The report of a judge or a hunt: one page that needs nothing beside it, and the same as data."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from mipsim._files import writable_folder
from mipsim.referee import mathml
from mipsim.referee.defect import correction_of, defect_of, readings_of
from mipsim.referee.outcome import Outcome, simplest
from mipsim.referee.replay import replay_of
from mipsim.referee.reporting.document import document
from mipsim.referee.reporting.files import write_atomically
from mipsim.referee.reporting.overview import badge, facts_list, group_list, verdict_counts, verdicts_table
from mipsim.referee.reporting.pictures import pictures_of
from mipsim.referee.reporting.plain import plain
from mipsim.referee.reporting.where import importance
from mipsim.referee.reporting.wording import (
    count,
    duration,
    interval,
    paragraphs,
    parameters,
    plural,
    point_anchor,
    reached,
    three_digits,
)
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.settings import GAMES
from mipsim.referee.statement import Statement

SCRIPT = Path(__file__).with_name("table.js")
SHOWN = 12
"""Judged points that are listed, those with the strongest verdict first; all are in the data."""
LISTED = 8
"""Failures and findings that are listed."""
LEAD = (
    "Each statement is judged at points of its domain by exact laws where there are any, by games elsewhere. CONFIRMED: at "
    "every judged point; it is never a proof. REFUTED: at some point, beyond the proven error or with the stated failure "
    "probability. INCONCLUSIVE: the evidence decides neither."
)


def report(results: Outcome | Sequence[Outcome], folder: str | os.PathLike[str]) -> Path:
    """Write `index.html` and `results.json` into a folder; the page needs nothing beside it.

    Args:
        results: what `judge` and `hunt` returned.
        folder: made if need be.

    Returns:
        The path of the page.

    Raises:
        ValueError: if there are no results, one is none, or the folder cannot be written.

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
    if wrong := [one for one in several if not isinstance(one, Outcome)]:
        raise ValueError(f"results holds {type(wrong[0]).__name__}; it must hold what judge or hunt returned")
    where = writable_folder("folder", Path(folder))
    known = [one.statement for one in several]
    data = json.dumps(
        [record(one, correction_of(one.statement, known)) for one in several],
        indent=1,
        ensure_ascii=False,
        allow_nan=False,
    )
    write_atomically(where / "results.json", data + "\n")
    write_atomically(where / "index.html", page(several))
    return where / "index.html"


def record(outcome: Outcome, correction: Statement | None = None) -> dict[str, Any]:
    """The outcome as JSON holds it.

    Args:
        outcome: what judging or hunting returned.
        correction: the corrected statement, which tells a missing condition from a wrong formula.
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
            "interval": outcome.interval,
            "share": outcome.share,
            "importance": importance(outcome),
            "frontier": outcome.frontier,
            "how": outcome.how,
            "confidence": outcome.confidence,
            "seed": outcome.seed,
            "budget": outcome.budget,
            "seconds": outcome.seconds,
            "interrupted": outcome.interrupted,
            "replay": vars(outcome.replay),
            "judged": [_judged_record(one) for one in outcome.judged],
            "probes": [vars(probe) for probe in outcome.probes],
            "failures": [vars(failure) for failure in outcome.failures],
            "findings": [vars(finding) for finding in outcome.findings],
        }
    )


def _judged_record(one: PointResult) -> dict[str, Any]:
    return {key: value for key, value in vars(one).items() if key != "evidence"}


def page(
    outcomes: Sequence[Outcome],
    *,
    known: Sequence[Statement] = (),
    title: str = "The referee’s report",
    lead: str = LEAD,
    facts: Mapping[str, str] | None = None,
    note: str = "",
    data: str = "results.json",
    commands: Callable[[Outcome, PointResult], str] | None = None,
    hunts: Mapping[str, str] | None = None,
    groups: Callable[[Statement], str] | None = None,
    links: Mapping[str, tuple[str, str]] | None = None,
) -> str:
    """Return the whole page as one HTML document that needs nothing beside it.

    Args:
        outcomes: a section each, in this order.
        known: statements beside those of `outcomes` among which corrections are looked up.
        title: the head of the page.
        lead: the words below it.
        facts: names and values of what was asked.
        note: what the reader must know first, such as that the run is not finished.
        data: the file beside the page that holds the same.
        commands: the command that shows a judged point again; else that of `mipsim judge`.
        hunts: name -> what is told of the hunts of a statement.
        groups: what a statement belongs to, such as a paper: the table can be narrowed to one.
        links: group -> its full title, and an address or "".
    """
    known = [*(one.statement for one in outcomes), *known]
    shown = {one.statement.name for one in outcomes}
    several, met = len(outcomes) > 1, Counter[str]()
    parts = [
        verdict_counts(outcomes, known),
        facts_list(facts),
        group_list(links),
        verdicts_table(outcomes, known, groups) if several else "",
    ]
    for one in outcomes:
        correction = correction_of(one.statement, known)
        told = (hunts or {}).get(one.statement.name, "")
        parts.append(
            _section(one, correction, shown, commands or _command, told, _anchor(one.statement.name, met))
        )
    body = "\n".join(part for part in parts if part)
    script = SCRIPT.read_text(encoding="utf-8") if several else ""
    of = plural(len(outcomes), "statement")
    return document(title, lead, body, of=of, note=note, data=data, script=script)


def _anchor(name: str, met: Counter[str]) -> str:
    """The id of a statement's section: one that was judged and hunted has two."""
    met[name] += 1
    return escape(name if met[name] == 1 else f"{name}.{met[name]}", quote=True)


def _section(
    outcome: Outcome,
    correction: Statement | None,
    shown: set[str],
    command: Callable[[Outcome, PointResult], str],
    hunts: str,
    name: str,
) -> str:
    statement, pictures = outcome.statement, pictures_of(outcome, name)
    slip = zip(("A slip of the pen", "Right elsewhere"), statement.slip or (), strict=False)
    parts = [
        f'<section id="{name}" aria-labelledby="{name}-title">',
        f'<h2 id="{name}-title"><span class="id">{escape(statement.name)}</span> {badge(outcome.verdict)}</h2>',
        f'<p class="meta">{escape(statement.source)} · {escape(str(statement.kind))} · {escape(outcome.how)} · '
        f"seed {outcome.seed} · {duration(outcome.seconds)}</p>",
        f'<p class="formula">{mathml.drawn(statement.formula, block=True)}</p>' if statement.formula else "",
        f'<p class="statement">{mathml.words(statement.says.strip())}</p>',
        *(_quote("In the paper", one) for one in ([statement.quote] if statement.quote else [])),
        *(_quote("Restricted by", one) for one in statement.restricted_by),
        *(_quote(role, one) for role, one in slip),
        _defect(outcome, correction),
        f"<p>Corrects {_link(statement.corrects, shown)}.</p>" if statement.corrects else "",
        f"<p>Corrected by {_link(correction.name, shown)}.</p>" if correction is not None else "",
        _derivation(statement),
        _meanings(statement),
        _worst(outcome, command, name),
        _where(outcome, pictures.where),
        f'<h3>The hunt</h3><p class="meta">{escape(hunts)}</p>' if hunts else "",
        f"<h3>There, truth and claim</h3><figure>{pictures.curve}</figure>" if pictures.curve else "",
        _failures(outcome),
        _points(outcome, name),
        _domain(outcome),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _link(name: str, shown: set[str]) -> str:
    return f'<a href="#{escape(name, quote=True)}">{escape(name)}</a>' if name in shown else escape(name)


def _quote(role: str, quote: Any) -> str:
    return (
        f"<blockquote><p>{escape(quote.text)}</p><footer>{role}: {escape(quote.place)}</footer></blockquote>"
    )


def _defect(outcome: Outcome, correction: Statement | None) -> str:
    lines = []
    if (defect := defect_of(outcome, correction)) is not None:
        lines.append(f"Defect: <strong>{defect}</strong>, {escape(defect.meaning)}.")
    if len(readings := readings_of(outcome)) > 1:
        each = "; ".join(f"{escape(name)}: {verdict}" for name, verdict in readings.items())
        lines.append(f"By reading: {each}.")
    return "".join(f'<p class="defect">{line}</p>' for line in lines)


def _derivation(statement: Statement) -> str:
    why = "".join(f"<p>{mathml.words(part)}</p>" for part in paragraphs(statement.derivation))
    return f'<h3>Why this is the right statement</h3><div class="derivation">{why}</div>' if why else ""


def _meanings(statement: Statement) -> str:
    said = "; ".join(
        f"<code>{escape(name)}</code>: {escape(words)}" for name, words in statement.meanings.items()
    )
    return f'<p class="meta">Parameters. {said}.</p>' if said else ""


def _command(outcome: Outcome, point: PointResult) -> str:
    """The command that judges a point again."""
    if point is outcome.worst:
        return outcome.replay.shell
    return replay_of(
        outcome.statement, point.parameters, outcome.confidence, outcome.seed, point.games or GAMES
    ).shell


def _worst(outcome: Outcome, command: Callable[[Outcome, PointResult], str], name: str) -> str:
    worst = outcome.worst
    if worst is None:
        return '<div class="note error"><p>No point could be judged.</p></div>'
    first = simplest(outcome.statement, outcome.judged)
    simple = (
        ""
        if first is None or first.parameters == worst.parameters
        else _example("A simple counterexample", first, command(outcome, first), f"{name}.simple")
    )
    refuted = worst.verdict is Verdict.REFUTED
    title = (
        "The counterexample with the largest gap"
        if simple
        else "Counterexample"
        if refuted
        else "The point with the largest gap"
    )
    lines = [
        f'<p class="meta">Broken for {escape(key)} {escape(reached(reach))}, the others as they are.</p>'
        for key, reach in outcome.frontier.items()
    ]
    lines.append(
        f'<details><summary>The same in Python</summary><pre tabindex="0">{escape(outcome.replay.python)}</pre></details>'
    )
    shown = ""
    if refuted and outcome.statement.snippet:
        shown = (
            '<details class="snippet"><summary>A counterexample without mipsim</summary>'
            f'<pre tabindex="0">{escape(outcome.statement.snippet.strip())}</pre></details>'
        )
    return simple + shown + _example(title, worst, command(outcome, worst), f"{name}.worst", "".join(lines))


def _example(title: str, point: PointResult, command: str, anchor: str, more: str = "") -> str:
    kind = "note counterexample" if point.verdict is Verdict.REFUTED else "note"
    second = f"<p>Second route: {escape(point.second_route)}</p>" if point.second_route else ""
    return (
        f'<div class="{kind}" id="{anchor}"><h3>{title}</h3><p class="parameters">{escape(parameters(plain(point.parameters)))}</p>'
        f"<p>Gap {three_digits(point.gap)} {escape(point.unit)}, {interval(point.interval)}, by {escape(point.route)}. "
        f"{escape(point.detail)}</p>{second}<p>See it again:</p>"
        f'<pre class="command" tabindex="0">{escape(command)}</pre>{more}</div>'
    )


def _where(outcome: Outcome, drawn: str) -> str:
    share = (
        "" if math.isnan(outcome.share) else f"It stands at {outcome.share:.0%} of the evenly spread points. "
    )
    broken = f"{plural(len(outcome.probes), 'probe')} in all." if outcome.probes else ""
    if not drawn and not share:
        return ""
    return f"<h3>Where it holds</h3><p>{share}{broken}</p><figure>{drawn}</figure>"


def _failures(outcome: Outcome) -> str:
    blocks = []
    for title, found in (
        (
            "points failed: its functions raised, or returned what they must not",
            [(f.at, f.error) for f in outcome.failures],
        ),
        (
            "points at which the claimed curve is no trade-off function",
            [(f.at, f.what) for f in outcome.findings],
        ),
    ):
        if found:
            items = "".join(
                f"<li><code>{escape(parameters(plain(at)))}</code>: {escape(what)}</li>"
                for at, what in found[:LISTED]
            )
            blocks.append(f'<div class="note error"><p>{len(found):,} {title}.</p><ul>{items}</ul></div>')
    return "".join(blocks)


def _points(outcome: Outcome, name: str) -> str:
    order = (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.CONFIRMED)
    by_size = sorted(outcome.judged, key=lambda one: -abs(one.gap) if one.gap == one.gap else 0)
    seen: Counter[tuple[str, str]] = Counter()
    places = []
    for one in (
        by_size
    ):  # the largest of each unit first, then the second of each: gaps of two units are not compared
        kin = (one.verdict, one.unit)
        places.append((order.index(one.verdict), seen[kin]))
        seen[kin] += 1
    ranked = [one for _, one in sorted(zip(places, by_size, strict=True), key=lambda pair: pair[0])]
    rows = "".join(
        f'<tr id="{(anchor := point_anchor(name, one.parameters))}"><th scope="row"><a href="#{anchor}" aria-label="Link to this point">#</a> '
        f'{escape(one.name)} <span class="parameters">{escape(parameters(plain(one.parameters)))}</span></th>'
        f"<td>{badge(one.verdict)}</td>"
        f'<td class="num">{three_digits(one.gap)} {escape(one.unit)}</td><td class="num">{interval(one.interval)}</td>'
        f'<td class="num">{count(one.games)}</td><td class="how">{escape(one.route)}. {escape(one.detail)}</td></tr>'
        for one in ranked[:SHOWN]
    )
    if not rows:
        return ""
    head = "".join(
        f'<th scope="col">{word}</th>' for word in ("point", "verdict", "gap", "interval", "games", "how")
    )
    more = (
        ""
        if len(ranked) <= SHOWN
        else f'<p class="meta">{len(ranked) - SHOWN} more in the data beside this page.</p>'
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    region = 'class="scroll" role="region" tabindex="0" aria-label="Judged points"'
    return f"<details><summary>{plural(len(ranked), 'judged point')}</summary><div {region}>{table}</div>{more}</details>"


def _domain(outcome: Outcome) -> str:
    weights = importance(outcome)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(str(parameter))}</td>'
        f'<td class="num">{three_digits(weights[name]) if name in weights else "–"}</td></tr>'
        for name, parameter in outcome.statement.domain.items()
    )
    where = "<p>Further assumptions tie them together.</p>" if outcome.statement.where is not None else ""
    where += (
        '<p class="meta">How much it matters: the shares that a parameter alone explains of the variance of the gaps, by rank, and of '
        "where the statement fails, added: from 0 to 2.</p>"
    )
    head = (
        '<th scope="col">parameter</th><th scope="col">allowed</th><th scope="col">how much it matters</th>'
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    region = 'class="scroll" role="region" tabindex="0" aria-label="Domain"'
    return f"<details><summary>Domain</summary>{where}<div {region}>{table}</div></details>"
