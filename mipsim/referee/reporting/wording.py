"""How numbers are written for a reader, the same on the terminal and on the page."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from mipsim._printed import ceiling, floor
from mipsim.referee.gap_words import three_digits
from mipsim.referee.result import PointResult
from mipsim.referee.statement import Statement

GREEK = ("alpha", "beta", "delta", "epsilon", "eta", "gamma", "lambda", "mu", "rho", "sigma", "tau", "theta")
"""Symbols that are written as words."""
LISTED = 5
"""Entries of a list that is written in full."""
_STEP = re.compile(r"(?<=[.:;]) +(?=\((?:[ivx]{1,4}|[A-Z]|[0-9]{1,2})\) )")
"""Before a step of a proof: a number or letter in brackets that begins a sentence."""


def paragraphs(text: str) -> list[str]:
    """A long text in parts: its own lines, and each step of a proof by itself.
    >>> paragraphs("Two steps. (i) First, by (ii). (ii) Two.")
    ['Two steps.', '(i) First, by (ii).', '(ii) Two.']
    """
    return [part for line in text.strip().splitlines() for part in _STEP.split(line.strip()) if part]


def interval(ends: Sequence[float]) -> str:
    """Write an interval; "exact" where it is a single point, a dash where there is none.
    >>> interval((-0.001, float("inf"))), interval((0.3, 0.3)), interval((float("nan"), float("nan")))
    ('[−0.001, ∞]', 'exact', '–')
    """
    if ends[0] == ends[1]:
        return "exact"
    if math.isnan(ends[0]) and math.isnan(ends[1]):
        return "–"
    return f"[{three_digits(ends[0], floor)}, {three_digits(ends[1], ceiling)}]"


def count(value: float) -> str:
    """Write a whole number, as of games: groups of three digits up to a million, then short.
    >>> [count(x) for x in (0, 20_000, 1_000_000, 12_345_678, 3_000_000_000)]
    ['0', '20,000', '1M', '12.3M', '3G']
    """
    for size, letter in ((10**9, "G"), (10**6, "M")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:,.0f}"


def duration(seconds: float) -> str:
    """Write a time.
    >>> [duration(x) for x in (0.004, 3.14, 75.0, 5000.0)]
    ['0.00 s', '3.1 s', '1 min 15 s', '1 h 23 min']
    """
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes = round(seconds) // 60
    if minutes < 60:
        return f"{minutes} min {round(seconds) % 60} s"
    return f"{minutes // 60} h {minutes % 60} min"


def claimed_and_true(point: PointResult) -> str:
    """What the statement says at a counterexample and what is true, as the second route measured both; empty without a route that sees it."""
    second = point.second_route
    if second is None or not second.excludes:
        return ""
    what, stated, true, ends = second.for_readers()
    limit = " in the limit" if second.size else ""
    size = f" at size {second.size:,}" if second.size and "n = " not in what else ""
    # A symbol stays as it is written: n is not N, and delta not Delta.
    word = re.match("[a-z]{2,}(?![a-z0-9(])", what)
    begin = what[:1].upper() if word and word[0] not in GREEK else what[:1]
    return f"{begin}{what[1:]}: {stated}{limit} by the claim, {true} true{size}{ends}."


def formula_is_quoted(statement: Statement) -> bool:
    """Whether all letters, numbers and relations of a statement's formula stand in its quotation: else a report says that the formula is its own."""
    quote = "" if statement.quote is None else statement.quote.text
    return _signs(statement.formula) <= _signs(quote)


def _signs(text: str) -> set[str]:
    r"""The words, numbers and relations of a formula, in LaTeX or as a quotation writes it.
    >>> _signs(r"\frac{\varepsilon}{2} \le \mu") == _signs("epsilon/2 <= μ") == {"epsilon", "2", "<=", "mu"}
    True
    """
    text = re.sub(r"\\(?:left|right|frac|quad|text|mathrm|mathbb|mathcal|operatorname)(?![a-z])", " ", text)
    text = re.sub(
        r"\\leq?(?![a-z])", "<=", re.sub(r"\\geq?(?![a-z])", ">=", text.replace("varepsilon", "epsilon"))
    )
    text = re.sub(r"[α-ωΑ-Ω]", lambda match: f" {unicodedata.name(match[0]).split()[-1]} ", text)
    return set(re.findall(r"[a-z]+|\d+|[<>=]+", text.lower().replace("≤", "<=").replace("≥", ">=")))


def parameters(values: Mapping[str, Any]) -> str:
    """Write the parameters of a point on a single line.
    >>> parameters({"n": 1000, "rho": 0.5, "law": "Bernoulli", "p": [0.1, 0.2]})
    'n = 1000, rho = 0.5, law = Bernoulli, p = [0.1, 0.2]'
    """
    return ", ".join(f"{name} = {parameter(value)}" for name, value in values.items())


def parameter(value: Any) -> str:
    """Write a parameter: whole numbers in full, others with six digits, lists in brackets, of long ones the ends.
    >>> parameter(0.1), parameter([300, 600, 1200, 2400, 4800, 9600])
    ('0.1', '[300, 600, ..., 9600]')
    """
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        few = value if len(value) <= LISTED else [*value[:2], "...", value[-1]]
        return "[" + ", ".join(parameter(item) for item in few) + "]"
    if isinstance(value, Mapping):
        return "{" + parameters(value) + "}"
    return str(value)


def reached(reach: Any) -> str:
    """Write from where to where a parameter may go with the statement still broken, or for which of its values it is.
    >>> reached({"low": 1, "high": 2.5}), reached(["a", "b"])
    ('from 1 to 2.5', '= a, b')
    """
    if not isinstance(reach, Mapping):
        return f"= {', '.join(map(str, reach))}"
    low, high = (
        f"{end:.4g}" if isinstance(end, float) else str(end) for end in (reach["low"], reach["high"])
    )
    return f"from {low} to {high}"
