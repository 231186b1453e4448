"""The tables of one claim: where it holds, its regimes, its domain."""

from collections.abc import Sequence
from html import escape

from mipsim.referee.reporting.overview import badge
from mipsim.referee.reporting.wording import count, duration, gap, number, parameter, parameters, plural
from verify.claim import Between, Claim, Domain, RegimeResult, Verdict
from verify.claim_result import ClaimResult
from verify.report.record import names_with, plain
from verify.report.whisker import whisker

VALUES = 6
"""Distinct values of a parameter that are listed; of more, only the range is."""

FOLDED = 12
"""A longer list of regimes is folded: the page would be endless."""

WORDS = {Verdict.CONFIRMED: "holds", Verdict.REFUTED: "fails", Verdict.INCONCLUSIVE: "undecided"}


def where_table(result: ClaimResult) -> str:
    """Return the part of the domain where the claim holds and where it fails, by regime and by parameter."""
    found = {verdict: [r for r in result.regimes if r.verdict is verdict] for verdict in Verdict}
    found = {verdict: regimes for verdict, regimes in found.items() if regimes}
    title = "<h3>Where it holds and where it fails</h3>"
    if not found:
        return ""
    if len(found) == 1:
        (verdict,) = found
        be = "is " if verdict is Verdict.INCONCLUSIVE else ""
        return f"{title}<p>It {be}{WORDS[verdict]} at every regime that was judged.</p>"
    listed = [_listed(result, verdict) for verdict in found]
    rows = [_cells("regime", listed)]
    for name in dict.fromkeys(name for regime in result.regimes for name in regime.parameters):
        cells = [
            _values([r.parameters[name] for r in group if name in r.parameters]) for group in found.values()
        ]
        if len(set(cells)) > 1:
            rows.append(_cells(name, [escape(cell) for cell in cells]))
    columns = [f"{WORDS[verdict]} ({plural(len(group), 'regime')})" for verdict, group in found.items()]
    return title + _table(f"Where {result.claim.id} holds", ["parameter", *columns], rows)


def regimes_table(result: ClaimResult) -> str:
    """Return every regime with what came of it."""
    claim = result.claim
    rows = [_regime(claim, name, regime) for name, regime in zip(result.names, result.regimes, strict=True)]
    columns = [
        "regime",
        "verdict",
        "gap and interval",
        "smallest tolerance",
        "detectable gap",
    ]
    columns += ["games per world", "how it was judged"]
    if not rows:
        return ""
    key = "Bar: interval of the gap; shade: tolerance on either side of zero; an arrow leads out of sight."
    table = f'<p class="meta">{key}</p>' + _table(f"Regimes of {claim.id}", columns, rows, "regimes")
    state = " open" if len(rows) <= FOLDED else ""
    return f"<details{state}><summary>{plural(len(rows), 'regime')}, one by one</summary>{table}</details>"


def domain_table(domain: Domain) -> str:
    """Return every parameter that the statement leaves free, with all that it allows."""
    rows = []
    for name, span in domain.items():
        if isinstance(span, Between):
            allowed = f"from {number(span.low)} to {number(span.high)}"
        else:
            allowed = ", ".join(span.choices)
        rows.append(_cells(name, [escape(allowed), escape(span.note)]))
    title = "<h3>Domain: all that the statement allows</h3>"
    return title + _table("Domain", ["parameter", "allowed", "note"], rows) if rows else ""


def _regime(claim: Claim, name: str, regime: RegimeResult) -> str:
    seed = f" · seed {regime.seed}" if regime.seed is not None else ""
    how = [f"{escape(regime.route)}{seed} · {duration(regime.seconds)}", escape(regime.detail)]
    if regime.second_route:
        how.append(f"Second route: {escape(regime.second_route)}")
    if regime.games_to_decide:
        how.append(f"{count(regime.games_to_decide)} games would decide.")
    reading = f'<p class="reading">Reading: {escape(regime.reading)}</p>' if regime.reading else ""
    values = escape(parameters(plain(regime.parameters)))
    departure = f"<p>{gap(regime.gap, regime.interval)} {escape(regime.unit)}</p>{whisker(regime)}"
    detectable = "exact" if regime.exact else number(regime.detectable_gap)
    numbers = (departure, number(regime.smallest_tolerance), detectable, count(regime.games))
    return (
        f'<tr><th scope="row"><p>{escape(name)}</p><p class="parameters">{values}</p>{reading}</th>'
        f"<td>{badge(regime.verdict)}</td>"
        + "".join(f'<td class="num">{cell}</td>' for cell in numbers)
        + f'<td class="how">{"".join(f"<p>{line}</p>" for line in how if line)}</td></tr>'
    )


def _listed(result: ClaimResult, verdict: Verdict) -> str:
    """The regimes with this verdict by name, and how many of the drawn points have it."""
    drawn = {name for name, regime in zip(result.names, result.regimes, strict=True) if regime.sampled}
    names = names_with(result, verdict)
    points = sum(name in drawn for name in names)
    text = _names([name for name in names if name not in drawn])
    return "<br>".join(part for part in (text, f"{plural(points, 'drawn point')}" if points else "") if part)


def _names(names: Sequence[str]) -> str:
    return ("<br>" if len(names) <= FOLDED else "; ").join(escape(name) for name in names)


def _values(values: Sequence[object]) -> str:
    words = list(dict.fromkeys(parameter(plain(value)) for value in values))
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if numbers and len(numbers) == len(values):
        if len(words) > VALUES:
            return f"{parameter(min(numbers))} … {parameter(max(numbers))}"
        return ", ".join(dict.fromkeys(parameter(value) for value in sorted(numbers)))
    more = f" and {len(words) - VALUES} more" if len(words) > VALUES else ""
    return ("; ".join(words[:VALUES]) or "–") + more


def _cells(name: str, cells: Sequence[str]) -> str:
    return f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _table(label: str, columns: Sequence[str], rows: Sequence[str], kind: str = "plain") -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    # A wide table scrolls by itself; a keyboard can reach it because it takes the focus.
    region = f'class="scroll" role="region" tabindex="0" aria-label="{escape(label, quote=True)}"'
    return f'<div {region}><table class="{kind}">{body}</table></div>'
