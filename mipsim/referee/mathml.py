"""Formulas as MathML, which every browser draws by itself: nothing is loaded from anywhere, and no formula holds other markup."""

import re
from html import escape
from xml.etree.ElementTree import Element, fromstring, tostring

from latex2mathml.converter import convert_to_element

_INLINE = re.compile(r"(?<![\\$])\$(?=[^\s$])([^$\n]*[^\s$\\])\$(?![\d$])")
"""A formula between dollar signs as Pandoc reads them: "$5 and $6" holds none."""

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ELEMENTS = frozenset({
    "math", "menclose", "mfenced", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom",
    "mprescripts", "mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd",
    "mtext", "mtr", "munder", "munderover", "none",
})  # fmt: skip
"""What draws, and does nothing else: no element that links, embeds or reacts."""
ATTRIBUTES = frozenset({
    "accent", "accentunder", "align", "bevelled", "close", "columnalign", "columnlines", "columnspacing",
    "depth", "display", "displaystyle", "fence", "form", "frame", "height", "largeop", "linethickness",
    "lspace", "mathbackground", "mathcolor", "mathsize", "mathvariant", "maxsize", "minsize", "movablelimits",
    "notation", "open", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator", "separators",
    "stretchy", "symmetric", "voffset", "width",
})  # fmt: skip
"""How it is displayed: neither an address, nor a style sheet's words, nor a name that scripts know."""
_VALUE = re.compile(r"[\w .,#%+()|-]{0,80}")
_CODE = re.compile(r"&#x([0-9A-Fa-f]{2,6});")
_CODE_IN_TEXT = re.compile(r"&#x(0[0-9A-Fa-f]{4});")
"""How the converter writes characters; in text, where an author's own "&#x3c;" is to be seen as it is, always with five digits."""


def converted(latex: str, block: bool = False) -> str:
    r"""A formula as MathML.

    The converter's own text leaves what stands in `\text` unescaped, so that its tree is taken, compared with a list of what
    is allowed, and written anew.

    `latex`: without dollar signs; `block`: on lines of its own. Raises ValueError if the converter cannot read it, or
    makes of it what is not in `ELEMENTS` and `ATTRIBUTES`, such as a link.
    """
    try:
        tree = convert_to_element(latex, display="block" if block else "inline")
        for element in tree.iter():
            element.text = _characters(element)
        text = tostring(tree, encoding="unicode")
        parsed = fromstring(text)
    except Exception as error:  # the converter raises classes of its own, and IndexError; the parser others
        raise ValueError(f"formula cannot be read ({type(error).__name__}); it must be LaTeX") from error
    for element in parsed.iter():
        _check(element)
    return text


def to_mathml(latex: str, block: bool = False) -> str:
    """A formula as MathML, or its source as code where it is no LaTeX that the converter can read, or holds more than a formula.
    `latex`: without dollar signs; `block`: on lines of its own.
    """
    try:
        return converted(latex, block)
    except ValueError:
        return f"<code>{escape(latex)}</code>"


def words(text: str) -> str:
    """Text as HTML, with formulas between dollar signs as MathML.
    >>> words("a < b, $5 and $6"), words("$x$ < 1").endswith("</math> &lt; 1")
    ('a &lt; b, $5 and $6', True)
    """
    parts = _INLINE.split(text)
    return "".join(to_mathml(part) if place % 2 else escape(part) for place, part in enumerate(parts))


def _characters(element: Element) -> str | None:
    """The text of an element with characters in the place of their codes."""
    codes = _CODE_IN_TEXT if element.tag == "mtext" else _CODE
    return element.text and codes.sub(lambda code: chr(int(code[1], 16)), element.text)


def _check(element: Element) -> None:
    namespace, _, name = element.tag.rpartition("}")
    if namespace.lstrip("{") != NAMESPACE or name not in ELEMENTS:
        raise ValueError(f"formula has the element {name[:40]!r}, which no formula may have")
    for attribute, value in element.attrib.items():
        if attribute not in ATTRIBUTES:
            raise ValueError(f"formula has the attribute {attribute[:40]!r}, which no formula may have")
        if not _VALUE.fullmatch(value):
            raise ValueError(f"formula has {attribute} = {value[:40]!r}, which no formula may have")
