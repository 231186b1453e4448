"""The report of an audit of scores: a page that needs nothing beside it, and the same as data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._extras import MissingPackageError
from mipsim._files import replace_file, writable_folder
from mipsim._printed import at_least, enough, html_table
from mipsim._validation import member, texts
from mipsim._version import __version__
from mipsim.audits import Audit
from mipsim.referee.reporting.page import document
from mipsim.referee.reporting.pictures import ROLES, to_svg
from mipsim.referee.reporting.plain import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TICKS = (1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999, 0.9999, 1 - 1e-6)
_LEAD = (
    "Lower bounds on the leakage that attack scores demonstrate. The design is as stated: it cannot be inferred from the scores. "
    "Each bound, and the verdict, holds with the stated confidence by itself. This includes the choice of thresholds, or of "
    "numbers of guesses. REFUTED: the promised guarantee is false, but for the stated failure probability. "
    "INCONCLUSIVE: these scores do not refute it; none can confirm it."
)


def report_audit(
    audit: Audit, folder: str | os.PathLike[str], about: Mapping[str, str] | None = None
) -> Path:
    """Write `index.html` and `results.json` of an audit into a folder; the page needs nothing beside it.

    Args:
        audit: what `mipsim.audit` returned.
        folder: made if need be.
        about: what was trained and how, for the page and the data.

    Returns:
        The path of the page.

    Raises:
        ValueError: if it is no audit, `about` holds what is no text, or the folder cannot be written.

    Examples:
        >>> import tempfile, mipsim as mi
        >>> result = mi.audit(list(range(200)), [0] * 100 + [1] * 100, design="independent", runs=200, claim="mu=1")
        >>> page = report_audit(result, tempfile.mkdtemp())
        >>> page.name, "REFUTED" in page.read_text(encoding="utf-8")
        ('index.html', True)
    """
    member("audit", audit, Audit, "what mipsim.audit returned")
    fields = texts("about", about)
    where = writable_folder("folder", folder)
    held = audit.to_dict() | ({"about": fields} if fields else {})
    data = json.dumps(plain(held), indent=1, allow_nan=False)
    page = _page(audit, fields)
    replace_file(where / "results.json", data + "\n", follow=False)
    replace_file(where / "index.html", page, follow=False)
    return where / "index.html"


def _page(audit: Audit, about: Mapping[str, str]) -> str:
    from markupsafe import Markup

    name = Path(audit.source).name or "scores"
    facts = {**about, "Design": audit.design}
    if audit.source:
        facts |= {"File": audit.source, "SHA-256": audit.digest}
    facts |= {"Audited by": f"mipsim {__version__}", "Report of": f"{datetime.now(UTC):%Y-%m-%d}"}
    words = {
        "head": audit.promise or name,
        "verdict": audit.verdict,
        "says": audit.says,
        "facts": facts,
        "pictures": [(title, caption, Markup(shown)) for title, caption, shown in _pictures(audit)],
        "table": Markup(html_table(audit._lines())),
    }
    return document("audit.html", title="An audit of scores", lead=_LEAD, of=name, **words)


def _pictures(audit: Audit) -> Iterator[tuple[str, str, str]]:
    """(heading, what is seen, picture) for each that can be plotted."""
    parts: list[tuple[str, str, Callable[[Figure], None], float]] = []
    if (bar := audit.promised_and_shown) is not None:
        caption = "The guarantee says at most the first. The scores show at least the second."
        parts.append(("Promised and shown", caption, lambda figure: _draw_bars(figure, *bar), 1.4))
    if audit.curve is not None and audit.decides is not None:
        fpr, fnr = audit.decides
        caption = (
            f"Axes in probits, so that rates near 0 and near 1 are seen alike. The cross marks the threshold that decides: FPR {fpr:.3g}, "
            f"FNR {fnr:.3g}. The shaded band holds at all thresholds together. A promise above the band is refuted there."
        )
        parts.append(("Trade-off curve", caption, lambda figure: _draw_curve(figure, audit), 2.8))
    if audit.guesses:
        caption = (
            f'Right guesses about {audit.judged}, highest and lowest scores first; "in" marks guesses about the highest alone. Each number has its share of the failure '
            "probability. Guesses that know nothing are right in half of the cases."
        )
        parts.append(("Right guesses", caption, lambda figure: _draw_guesses(figure, audit), 2.8))
    caption = f"{audit.in_scores:,} scores of members, {audit.out_scores:,} of others, as shares of each."
    parts.append(("Scores of each world", caption, lambda figure: _draw_histogram(figure, audit), 2.8))
    for title, words, draw, height in parts:
        try:
            yield title, words, to_svg(draw, title, (5.0, height))
        except MissingPackageError as error:
            yield title, str(error), ""


def _draw_bars(figure: Figure, name: str, promised: float, shown: float) -> None:
    axes = figure.subplots()
    axes.barh([1, 0], [promised, shown], height=0.6, color=[ROLES["claimed"], ROLES["measured"]])
    for place, value, words in (
        (1, promised, f"{promised:g}"),
        (0, shown, at_least(shown, enough(shown, promised))),
    ):
        axes.annotate(words, (value, place), xytext=(4, 0), textcoords="offset points", va="center")
    axes.set_yticks([1, 0], ["promised", "shown"])
    axes.set(xlim=(0.0, 1.5 * max(promised, shown, 1e-9)), xlabel=name)


def _draw_histogram(figure: Figure, audit: Audit) -> None:
    axes = figure.subplots()
    edges, out, inside = (np.asarray(part, dtype=np.float64) for part in audit.histogram)
    axes.stairs(out / out.sum(), edges, fill=True, color=ROLES["band"], label="not in training")
    axes.stairs(inside / inside.sum(), edges, color=ROLES["claimed"], linewidth=1.4, label="in training")
    axes.set(xlabel="score", ylabel="share of the world")
    axes.legend(loc="upper right")


def _draw_guesses(figure: Figure, audit: Audit) -> None:
    axes, place = figure.subplots(), np.arange(len(audit.guesses))
    axes.axhline(0.5, color=ROLES["chance"], linewidth=1.0, dashes=(2, 2))
    axes.bar(place, [item.right / item.number for item in audit.guesses], color=ROLES["measured"], width=0.7)
    names = [f"{item.number:,}" + ("" if item.outside else ", in") for item in audit.guesses]
    axes.set_xticks(place, names, rotation=45, ha="right", fontsize=7)
    axes.set(ylim=(0.0, 1.05), xlabel="number of guesses", ylabel="share right")


def _draw_curve(figure: Figure, audit: Audit) -> None:
    axes, curve, decides = figure.subplots(), audit.curve, audit.decides
    assert curve is not None
    assert decides is not None
    least = 0.5 / max(curve.out_games, curve.in_games)
    edge = -float(ndtri(least))
    z = np.linspace(-edge, edge, 300)

    def probits(values: Any) -> np.ndarray:
        return ndtri(np.clip(values, least, 1.0 - least))

    low, high = (probits(end) for end in curve.curve_band.at(ndtr(z)))
    axes.fill_between(z, low, high, color=ROLES["band"], linewidth=0, label="band")
    axes.plot(
        probits(curve.alpha), probits(curve.beta), color=ROLES["measured"], linewidth=1.0, label="attack"
    )
    if audit.claim is not None:
        promised = probits(audit.claim.beta(ndtr(z)))
        axes.plot(z, promised, color=ROLES["claimed"], dashes=(4, 2), linewidth=1.2, label="promised")
    axes.plot(z, -z, color=ROLES["chance"], dashes=(2, 2), linewidth=0.8, label="chance")
    axes.plot(*map(probits, decides), "X", markersize=9, color=ROLES["ink"], label="decides", clip_on=False)
    ticks = [t for t in _TICKS if least <= t <= 1.0 - least]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([float(ndtri(t)) for t in ticks], [f"{t:g}" for t in ticks])
    axes.set(xlim=(-edge, edge), ylim=(-edge, edge), xlabel="FPR", ylabel="FNR")
    axes.legend(loc="upper right")
