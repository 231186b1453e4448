"""The shell of every page: one HTML document that needs nothing beside it."""

import base64
import hashlib
from html import escape
from pathlib import Path

STYLE = Path(__file__).with_name("page.css")


def document(
    title: str,
    lead: str,
    body: str,
    *,
    of: str = "",
    note: str = "",
    data: str = "results.json",
    script: str = "",
) -> str:
    """Return a whole page.

    Args:
        title: the head of the page.
        lead: the words below it.
        body: what the page holds, as HTML.
        of: what it is about, for the title of the window.
        note: what the reader must know first, such as that the run is not finished.
        data: the file beside the page that holds the same.
        script: JavaScript that the page runs.

    Examples:
        >>> document("A & B", "words", "<p>all</p>").count("A &amp; B")
        2
    """
    warning = f'<p class="note error"><strong>{escape(note)}</strong></p>\n' if note else ""
    run = f"<script>{script}</script>\n" if script else ""
    style = STYLE.read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}{escape(f': {of}') if of else ''}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n"
        f'<header>\n<h1>{escape(title)}</h1>\n{warning}<p class="lead">{escape(lead)}</p>\n</header>\n<main>\n{body}\n</main>\n'
        f"<footer><p>Everything on this page as data: {escape(data)}, beside it.</p></footer>\n{run}</body>\n</html>\n"
    )


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
