"""Formulas as MathML, which every browser draws by itself: nothing is loaded from anywhere."""

import re
from html import escape

from latex2mathml.converter import convert

_INLINE = re.compile(r"(?<![\\$])\$(?=[^\s$])([^$\n]*[^\s$\\])\$(?![\d$])")
"""A formula between dollar signs as Pandoc reads them: "$5 and $6" holds none."""


def drawn(latex: str, block: bool = False) -> str:
    """A formula as MathML, or its source as code where LaTeX is written that the converter cannot read.

    Args:
        latex: without dollar signs.
        block: on lines of its own.

    Examples:
        >>> drawn("x^2").startswith("<math"), drawn("x^")
        (True, '<code>x^</code>')
    """
    try:
        return convert(latex, display="block" if block else "inline")
    except Exception:  # the converter raises classes of its own, and IndexError
        return f"<code>{escape(latex)}</code>"


def words(text: str) -> str:
    """Text as HTML, its formulas between dollar signs drawn.

    Examples:
        >>> words("a < b, $5 and $6"), words("$x$ < 1").endswith("</math> &lt; 1")
        ('a &lt; b, $5 and $6', True)
    """
    parts = _INLINE.split(text)
    return "".join(drawn(part) if place % 2 else escape(part) for place, part in enumerate(parts))
