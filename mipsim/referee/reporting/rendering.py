"""From templates to whole pages: each a single HTML document, which needs nothing beside it.

Whatever a template is given is escaped, whoever wrote it. Markup are only a formula that has passed `mathml`, a picture of
matplotlib's, a table of `_repr_html_`, and the style and the script of this folder.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mipsim._words import plural
from mipsim.referee import mathml
from mipsim.referee.defect import Defect
from mipsim.referee.gap_words import lone_gap, three_digits
from mipsim.referee.reporting import wording
from mipsim.referee.reporting.plain import plain

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).with_name("templates")
STYLE = FOLDER / "page.css"
SCRIPT = FOLDER / "table.js"


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
            "interval",
            "paragraphs",
            "point_anchor",
            "reached",
        )
    }
    result.filters |= {
        "plural": plural,
        "lone_gap": lone_gap,
        "three_digits": three_digits,
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

    style = STYLE.read_text(encoding="utf-8")
    script = SCRIPT.read_text(encoding="utf-8") if scripted else ""
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
