"""The shell of every page: one HTML document that needs nothing beside it."""

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
    run = f"<script>\n{script}</script>\n" if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}{escape(f': {of}') if of else ''}</title>\n"
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n"
        f'<header>\n<h1>{escape(title)}</h1>\n{warning}<p class="lead">{escape(lead)}</p>\n</header>\n<main>\n{body}\n</main>\n'
        f"<footer><p>Everything on this page as data: {escape(data)}, beside it.</p></footer>\n{run}</body>\n</html>\n"
    )
