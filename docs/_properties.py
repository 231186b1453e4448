"""Docstrings of properties as they are written: napoleon takes what comes before their first colon for a type."""

from typing import Any

from sphinx.ext.napoleon.docstring import GoogleDocstring


def setup(app: Any) -> dict[str, bool]:
    """Have napoleon read a property as it reads a method.

    Its rule for attributes, "type: what it is", would tear "How many numbers a game has: its records." apart, and leave sections such as
    Examples unread.
    """
    parse = GoogleDocstring._parse

    def whole(self: Any) -> None:
        if self._what in {"attribute", "data", "property"}:
            self._what = "method"
        parse(self)

    GoogleDocstring._parse = whole
    return {"parallel_read_safe": True, "parallel_write_safe": True}
