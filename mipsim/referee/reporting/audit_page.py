"""The report of an audit of scores: a page that needs nothing beside it, and the same as data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mipsim._extras import MissingPackageError
from mipsim._files import replace_file, writable_folder
from mipsim._printed import html_table
from mipsim._validation import member, texts
from mipsim._version import __version__
from mipsim.audits import Audit
from mipsim.referee.reporting.page import document
from mipsim.referee.reporting.pictures import ROLES, to_svg
from mipsim.referee.reporting.plain import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    if audit.decides is not None:
        fpr, fnr = audit.decides
        caption = (
            f"The threshold that decides has FPR {fpr:.3g}, FNR {fnr:.3g}. The shaded band holds at all thresholds together. "
            "A promise above the band is refuted there."
        )
        yield "Trade-off curve", caption, audit._html_picture()
    title, caption = (
        "Scores of each world",
        f"{audit.in_scores:,} of members, {audit.out_scores:,} of others.",
    )
    try:
        yield title, caption, to_svg(partial(_draw_histogram, audit), title, (5.0, 2.8))
    except MissingPackageError as error:
        yield title, str(error), ""


def _draw_histogram(audit: Audit, figure: Figure) -> None:
    axes = figure.subplots()
    edges, out, inside = (np.asarray(part, dtype=np.float64) for part in audit.histogram)
    axes.stairs(out / out.sum(), edges, fill=True, color=ROLES["band"], label="not in training")
    axes.stairs(inside / inside.sum(), edges, color=ROLES["claimed"], linewidth=1.4, label="in training")
    axes.set(xlabel="score", ylabel="share of the world")
    axes.legend(loc="upper right")
