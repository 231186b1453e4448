"""How a result is shown: a title and named lines, as text or as a table of a notebook."""

from abc import ABC, abstractmethod
from html import escape

from mipsim._html_table import html_table
from mipsim._words import visible


class Printed(ABC):
    """Shown by `print` as a title and indented lines, and in a notebook as a table."""

    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def _lines(self) -> list[tuple[str, str]]: ...

    def _html_title(self) -> str:
        return f"<b>{escape(self._title())}</b>"

    def _html_picture(self) -> str:
        return ""

    def __str__(self) -> str:
        lines = self._lines()
        width = max(len(name) for name, _ in lines)
        return "\n".join(
            [
                self._title(),
                *(f"  {name:<{width}}  {visible(value, single_line=True)}" for name, value in lines),
            ]
        )

    def __repr__(self) -> str:
        """A single line; a subclass that is a dataclass sets repr=False."""
        return f"{type(self).__name__}({self._title()})"

    def _repr_html_(self) -> str:
        return f"<div>{self._html_title()}{html_table(self._lines())}{self._html_picture()}</div>"
