"""One claim on the page: statement, verdict, counterexample, plots, and the tables."""

import math
import re
from html import escape

from mipsim.referee.reporting import plots
from mipsim.referee.reporting.wording import by_unit, count, duration, gap, number, parameters, plural
from verify.claim import Claim, CurveEvidence, Quote, TrendEvidence, Verdict
from verify.claim_result import ClaimResult
from verify.report.record import Setting, counterexample_record, plain
from verify.report.tables import badge, domain_table, regimes_table, where_table
from verify.report.tally import MEANINGS

PLOTS = 4
"""Plots of one claim: the counterexample and the largest gaps; the table holds every regime."""


def link(claim: str, words: str = "") -> str:
    """Return a link to a claim's section, in other words than its id if any are given.

    The page turns it into plain words where that claim was not judged.

    Examples:
        >>> link("azize-thm-4.2")
        '<a href="#azize-thm-4.2">azize-thm-4.2</a>'
    """
    return f'<a href="#{escape(claim, quote=True)}">{escape(words or claim)}</a>'


def section(result: ClaimResult, setting: Setting) -> str:
    """Return the section of one claim as HTML; every text in it is escaped.

    Args:
        result: the judged claim.
        setting: what the run was asked, for the command that replays a counterexample.
    """
    claim = result.claim
    name = escape(claim.id, quote=True)
    verdict = badge(result.verdict if result.judged else None)
    parts = [
        f'<section id="{name}" aria-labelledby="{name}-title">',
        f'<h2 id="{name}-title"><span class="id">{escape(claim.id)}</span> {verdict}</h2>',
        f'<p class="meta">{_summary(result)}</p>',
        f'<pre class="statement">{escape(claim.statement.strip())}</pre>',
    ]
    parts += [_quotes(claim), _defect(result)]
    if claim.corrects:
        parts.append(f"<p>Corrects {link(claim.corrects)}.</p>")
    if claim.corrected_by:
        parts.append(f"<p>Corrected by {link(claim.corrected_by)}.</p>")
    if claim.derivation.strip():
        why = escape(claim.derivation.strip())
        parts.append(f'<h3>Why this is the right statement</h3><pre class="derivation">{why}</pre>')
    parts += [_errors(result), _counterexample(result, setting), _plots(result), where_table(result)]
    parts += [regimes_table(result), domain_table(claim.domain), "</section>"]
    return "\n".join(part for part in parts if part)


def _summary(result: ClaimResult) -> str:
    claim = result.claim
    games = sum(regime.games for regime in result.regimes)
    facts = [
        escape(claim.paper),
        escape(claim.kind),
        f"tolerance {number(claim.tolerance)} ({escape(claim.unit)})",
    ]
    facts += [
        plural(len(result.regimes) + len(result.errors), "regime"),
        f"{count(games)} games per world" if games else "no games",
    ]
    if result.regimes:
        facts += [
            f"largest gap {by_unit(result.gaps)}",
            f"smallest tolerance {by_unit(result.smallest_tolerances)}",
        ]
    facts += [f"detectable gap {by_unit(result.detectable_gaps)}"] if result.detectable_gaps else []
    facts += [f"failure probability {number(result.failure_probability)}", duration(result.seconds)]
    return " · ".join(facts)


def _quotes(claim: Claim) -> str:
    """The sentence that is judged, those that restrict it, and both places of a slip."""
    lines = []
    if claim.quote is not None:
        lines.append(_quotation("In the paper", claim.quote))
    lines += [_quotation("Restricted by", quote) for quote in claim.restricted_by]
    if claim.slip is not None:
        wrong, right = claim.slip
        lines += [_quotation("A slip of the pen", wrong), _quotation("right elsewhere", right)]
    return "\n".join(lines)


def _quotation(role: str, quote: Quote) -> str:
    place = escape(quote.place)
    return f"<blockquote><p>{escape(quote.text)}</p><footer>{role}: {place}</footer></blockquote>"


def _defect(result: ClaimResult) -> str:
    """What is wrong with a refuted statement, the verdict of each reading, and the share of the domain that stands."""
    lines = []
    if result.defect is not None:
        lines.append(f"Defect: <strong>{result.defect}</strong>, {escape(MEANINGS[result.defect])}.")
    if len(result.readings) > 1:
        each = "; ".join(f"{escape(name)}: {verdict}" for name, verdict in result.readings.items())
        lines.append(f"By reading: {each}.")
    if result.share is not None:
        drawn = plural(sum(regime.sampled for regime in result.regimes), "point")
        lines.append(f"Where it holds: {result.share:.0%} of {drawn} drawn at random from its domain stand.")
    return "".join(f'<p class="defect">{line}</p>' for line in lines)


def _errors(result: ClaimResult) -> str:
    items = "".join(
        f"<li><strong>{escape(name)}</strong>: <code>{escape(error)}</code></li>"
        for name, error in result.errors
    )
    if not items:
        return ""
    return f'<div class="note error"><p>Not judged, because the judge failed:</p><ul>{items}</ul></div>'


def _counterexample(result: ClaimResult, setting: Setting) -> str:
    worst, record = result.counterexample, counterexample_record(result, setting)
    if worst is None or record is None:
        return ""
    lines = [f"Gap ({escape(worst.unit)}): {gap(worst.gap, worst.interval)}."]
    lines += [f"Reading: {escape(worst.reading)}"] if worst.reading else []
    lines += [escape(worst.detail)] if worst.detail else []
    lines += [f"Second route: {escape(worst.second_route)}"] if worst.second_route else []
    return (
        f'<div class="note counterexample"><h3>Counterexample: {escape(record["name"])}</h3>'
        f'<p class="parameters">{escape(parameters(plain(worst.parameters)))}</p>'
        + "".join(f"<p>{line}</p>" for line in lines)
        + f'<p>Play it again:</p><pre class="command" tabindex="0">{escape(record["command"])}</pre></div>'
    )


def _plots(result: ClaimResult) -> str:
    worst = result.counterexample
    pairs = [
        pair for pair in zip(result.names, result.regimes, strict=True) if plots.drawable(pair[1].evidence)
    ]
    pairs.sort(key=lambda pair: (pair[1] is not worst, 0.0 if math.isnan(pair[1].gap) else -abs(pair[1].gap)))
    # An id in an SVG may hold letters, digits, dots and dashes only: it is referred to as url(#id).
    prefix = re.sub(r"[^\w.-]", "-", result.claim.id, flags=re.ASCII)
    drawn = []
    for index, (name, regime) in enumerate(pairs[:PLOTS]):
        if regime.evidence is None:
            continue
        title = f"{result.claim.id}, {name}"
        picture = _picture(regime.evidence, regime.verdict, title, f"{prefix}-plot-{index}")
        label = regime.evidence.label or getattr(regime.evidence, "route", "")
        caption = f"<strong>{escape(name)}</strong> {badge(regime.verdict)} {escape(label)}"
        drawn.append(f"<figure>{picture}<figcaption>{caption}</figcaption></figure>")
    if not drawn:
        return ""
    rest = len(pairs) - len(drawn)
    more = f'<p class="meta">{plural(rest, "more regime")}: in the table only.</p>' if rest else ""
    return f'<div class="plots">{"".join(drawn)}</div>{more}'


def _picture(evidence: CurveEvidence | TrendEvidence, verdict: Verdict, title: str, name: str) -> str:
    try:
        return plots.svg(evidence, verdict, title, name)
    except Exception as error:  # a verdict must not be lost for its picture
        return f'<p class="meta">Could not be drawn: {escape(f"{type(error).__name__}: {error}")}</p>'
