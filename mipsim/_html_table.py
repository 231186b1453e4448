"""How a notebook shows named values."""

from collections.abc import Iterable
from html import escape

_LEFT = 'style="text-align:left"'
"""In every cell: notebooks have a rule of their own for cells, which puts them on the right."""


def html_table(lines: Iterable[tuple[str, str]]) -> str:
    """Named values as an HTML table, a row each.
    >>> html_table([("a", "1 < 2")])
    '<table><tr><th style="text-align:left">a</th><td style="text-align:left">1 &lt; 2</td></tr></table>'
    """
    rows = (
        f"<tr><th {_LEFT}>{escape(name)}</th><td {_LEFT}>{escape(value)}</td></tr>" for name, value in lines
    )
    return f"<table>{''.join(rows)}</table>"
