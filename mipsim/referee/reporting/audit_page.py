"""The report of an audit of scores: one page that needs nothing beside it, and the same as data."""

from __future__ import annotations

import json
import os
from pathlib import Path

from mipsim._files import writable_folder
from mipsim.audits import Audit
from mipsim.referee.reporting.atomic_write import write_atomically
from mipsim.referee.reporting.plain import plain
from mipsim.referee.reporting.rendering import document

_LEAD = (
    "Lower bounds on the leakage that attack scores demonstrate. The design is as stated: it cannot be inferred from the scores. "
    "Each bound, and the verdict, holds with the stated confidence by itself. This includes the choice of thresholds, or of "
    "numbers of guesses. REFUTED: the promised guarantee is false, but for the stated failure probability. "
    "INCONCLUSIVE: these scores do not refute it; none can confirm it."
)


def report_audit(audit: Audit, folder: str | os.PathLike[str]) -> Path:
    """Write `index.html` and `results.json` of an audit into a folder; the page needs nothing beside it.

    Args:
        audit: what `mipsim.audit` returned.
        folder: made if need be.

    Returns:
        The path of the page.

    Raises:
        ValueError: if it is no audit, or the folder cannot be written.

    Examples:
        >>> import tempfile, mipsim as mi
        >>> found = mi.audit(list(range(200)), [0] * 100 + [1] * 100, design="independent", runs=200, claim="mu=1")
        >>> page = report_audit(found, tempfile.mkdtemp())
        >>> page.name, "REFUTED" in page.read_text(encoding="utf-8")
        ('index.html', True)
    """
    if not isinstance(audit, Audit):
        raise ValueError(f"audit is {type(audit).__name__}; it must be what mipsim.audit returned")
    where = writable_folder("folder", Path(folder))
    data = json.dumps(plain(audit.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)
    page = _page(audit)
    write_atomically(where / "results.json", data + "\n")
    write_atomically(where / "index.html", page)
    return where / "index.html"


def _page(audit: Audit) -> str:
    from markupsafe import Markup

    name = Path(audit.source).name or "scores"
    shown = Markup(audit._repr_html_())  # as a notebook shows it
    words = {"head": audit.promise or name, "verdict": audit.verdict, "audit": shown}
    return document("audit.html", title="An audit of scores", lead=_LEAD, of=name, **words)
