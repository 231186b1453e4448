"""The pictures of a statement, stored with its outcome; the process that judged it draws them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import NamedTuple
from weakref import WeakKeyDictionary

from mipsim.referee.outcome import Outcome, titled_examples
from mipsim.referee.reporting import plots
from mipsim.referee.reporting.where import where_map


class Pictures(NamedTuple):
    """`<img>` elements, empty where there is nothing to draw."""

    where: str  # the map of where the statement holds
    curve: str  # truth and claim at the first of the points shown that has a curve or a trend


_PICTURES: WeakKeyDictionary[Outcome, Pictures] = WeakKeyDictionary()


def keep(outcome: Outcome, pictures: Pictures | None = None) -> Pictures:
    """Draw an outcome's pictures once, or use those of another process."""
    if outcome not in _PICTURES:
        _PICTURES[outcome] = pictures or _draw(outcome)
    return _PICTURES[outcome]


def stored(outcome: Outcome) -> Pictures | None:
    """The pictures of an outcome, if it has any yet."""
    return _PICTURES.get(outcome)


def _draw(outcome: Outcome) -> Pictures:
    return Pictures(_picture(partial(where_map, outcome)), _curve(outcome))


def _curve(outcome: Outcome) -> str:
    for title, point in titled_examples(outcome):
        if point.evidence is not None and plots.drawable(point.evidence):
            words = f"{outcome.statement.name}, truth and claim: {title[:1].lower()}{title[1:]}"
            caption = f'<figcaption class="meta">{escape(title)}</figcaption>'
            return _picture(partial(plots.svg, point.evidence, point.verdict, words)) + caption
    return ""


def _picture(draw: Callable[[], str]) -> str:
    try:
        return draw()
    except Exception as error:  # a verdict must not be lost for its picture
        return f'<p class="meta">Could not be plotted: {escape(f"{type(error).__name__}: {error}")}</p>'
