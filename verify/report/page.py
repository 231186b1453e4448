"""The page: what was asked, the counts, the table of verdicts, then a section a claim."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from mipsim.referee.reporting.overview import badge
from mipsim.referee.reporting.page import SCRIPT, STYLE
from mipsim.referee.reporting.wording import by_unit, count, duration, interval, number, plural, quantity
from verify.claim_result import ClaimResult, Defect
from verify.judge import headline
from verify.report.record import Setting
from verify.report.section import link
from verify.report.tally import MEANINGS, tally


@dataclass(frozen=True)
class Heading:
    """What stands at the head of the page.

    Attributes:
        setting: what the run was asked.
        regimes: number of regimes of the whole register that chance enters.
        claims: number of claims asked for.
        date: when the run began, with its time zone.
        versions: names and versions of what took part.
    """

    setting: Setting
    regimes: int
    claims: int
    date: datetime
    versions: dict[str, str]


WORDS = ("claim", "verdict", "defect", "kind")
NUMBERS = (
    "share that stands",
    "gap",
    "interval",
    "tolerance",
    "smallest tolerance",
    "detectable gap",
    "games",
    "seconds",
)
LEAD = (
    "Each claim is a numbered statement of a paper, or a correction of one, judged over a spread of its "
    "whole domain by membership-inference games or by exact laws. CONFIRMED: at every regime the interval of "
    "the gap lies inside the tolerance that was declared beforehand (a bound by an exact law has none). REFUTED: at "
    "some regime it excludes the claim; what is wrong with it is its defect, and the sentences of the paper that restrict "
    "it are part of it. INCONCLUSIVE: the evidence decides neither. A verdict is statistical: none is a proof."
)


def page(heading: Heading, results: Sequence[ClaimResult], sections: Sequence[str], state: str) -> str:
    """Return the whole page as one self-contained HTML document.

    Args:
        heading: what was asked.
        results: the finished claims.
        sections: their sections, in the same order.
        state: "running", "finished" or "interrupted".
    """
    here = {result.claim.id for result in results}
    body = "\n".join([_counts(results), _facts(heading, results), _table(results), *sections])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Verdicts: {plural(len(results), 'claim')}</title>\n"
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#verdicts">Skip to the verdicts</a>\n'
        f"<header>\n<h1>Verdicts on privacy theorems</h1>\n{_state(heading, results, state)}"
        f'<p class="lead">{LEAD}</p>\n</header>\n<main>\n{_without_dead_links(body, here)}\n</main>\n'
        "<footer><p>Numbers of this page as data: verdicts.json, beside it.</p></footer>\n"
        f"<script>\n{SCRIPT.read_text(encoding='utf-8')}</script>\n</body>\n</html>\n"
    )


def _state(heading: Heading, results: Sequence[ClaimResult], state: str) -> str:
    if state == "finished":
        return ""
    done = f"{len(results)} of {plural(heading.claims, 'claim')} finished"
    said = "The run was interrupted" if state == "interrupted" else "The run is still going, or was killed"
    return f'<p class="note error"><strong>{said}: {done}.</strong></p>\n'


def _counts(results: Sequence[ClaimResult]) -> str:
    parts = []
    for name, counts in tally(results).items():
        items = []
        for word, amount in counts.items():
            kind, _, defect = word.partition(": ")
            meaning = f"<small>{MEANINGS[Defect(defect)]}</small>" if defect in list(Defect) else ""
            items.append(f'<li class="{kind.lower().replace(" ", "-")}"><b>{amount}</b>{word}{meaning}</li>')
        title = f"{sum(counts.values())} {name if sum(counts.values()) != 1 else name.removesuffix('s')}"
        parts.append(
            f'<h2>{title}</h2><ul class="counts" aria-label="Counts of {name}">{"".join(items)}</ul>'
        )
    return "".join(parts)


def _facts(heading: Heading, results: Sequence[ClaimResult]) -> str:
    setting = heading.setting
    judged = sum(len(result.regimes) for result in results)
    games = sum(regime.games for result in results for regime in result.regimes)
    family = 1 - setting.confidence
    shared = f"over all {plural(heading.regimes, 'regime')} of the register that play games"
    each = number(family / max(1, heading.regimes))
    work = f"{plural(len(results), 'claim')}, {plural(judged, 'regime')}, {count(games)} games per world"
    facts = {
        "family-wise failure probability": f"{number(family)} {shared}, each {each}",
        "judged here": work,
        "scale and seed": f"{setting.scale}, seed {setting.seed}",
        "time, summed over claims": duration(sum(result.seconds for result in results)),
        "date": heading.date.strftime("%Y-%m-%d %H:%M %Z"),
        "versions": ", ".join(f"{name} {version}" for name, version in heading.versions.items()),
    }
    rows = []
    for name, text in facts.items():
        wide = ' class="wide"' if name == "versions" else ""
        rows.append(f"<div{wide}><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>")
    return f'<dl class="facts">{"".join(rows)}</dl>'


def _table(results: Sequence[ClaimResult]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in WORDS)
    head += "".join(f'<th scope="col" class="num">{name}</th>' for name in NUMBERS)
    rows = "".join(_row(result) for result in results)
    table = f'<table class="verdicts"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    region = 'class="scroll" role="region" tabindex="0" aria-label="Table of verdicts"'
    return f'<div class="card" id="verdicts"><h2>Verdicts</h2><div {region}>{table}</div></div>'


def _row(result: ClaimResult) -> str:
    claim, index = result.claim, headline(result)
    speaker = None if index is None else result.regimes[index]
    gap = math.nan if speaker is None else speaker.gap
    ends = (math.nan, math.nan) if speaker is None else speaker.interval
    games = sum(regime.games for regime in result.regimes)
    relation = ""
    if claim.corrects:
        relation = f'<p class="meta">corrects {link(claim.corrects)}</p>'
    elif claim.corrected_by:
        # Not by its id: the longest ones are those of corrections, and the table must stay narrow.
        relation = f'<p class="meta">see {link(claim.corrected_by, "its correction")}</p>'
    tolerance = claim.tolerance if speaker is None or speaker.tolerance is None else speaker.tolerance
    smallest = max(result.smallest_tolerances.values(), default=math.inf, key=_finite)
    detectable = max(result.detectable_gaps.values(), default=math.nan, key=_finite)
    defect = result.defect or "–"
    share = math.nan if result.share is None else result.share
    cells = [
        (_key(-share), "–" if result.share is None else f"{result.share:.0%}"),
        (_key(gap), "–" if speaker is None else quantity(gap, speaker.unit)),
        (_key(ends[1] - ends[0]), interval(ends)),
        (_key(tolerance), number(tolerance)),
        (_key(smallest), "∞" if result.errors else by_unit(result.smallest_tolerances)),
        (_key(detectable), "exact" if result.exact else by_unit(result.detectable_gaps)),
        (str(games), count(games)),
        (_key(result.seconds), f"{result.seconds:.1f}"),
    ]
    return (
        f'<tr><th scope="row" data-key="{escape(claim.id, quote=True)}">{link(claim.id)}{relation}</th>'
        f"<td>{badge(result.verdict if result.judged else None)}</td><td>{defect}</td><td>{escape(claim.kind)}</td>"
        + "".join(f'<td class="num" data-key="{key}">{text}</td>' for key, text in cells)
        + "</tr>"
    )


def _finite(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _key(value: float) -> str:
    # What the sorting script compares: numbers it can read, the missing ones after all others.
    return "Infinity" if math.isnan(value) or value == math.inf else f"{value:.9g}"


def _without_dead_links(body: str, here: set[str]) -> str:
    """Turn links to claims that are not on this page into plain words."""
    targets = {escape(name, quote=True) for name in here}

    def kept(found: re.Match[str]) -> str:
        return found[0] if found[1] in targets else found[2]

    return re.sub(r'<a href="#([^"]+)">([^<]*)</a>', kept, body)
