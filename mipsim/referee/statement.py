"""A statement as data: what it says, of what domain, what it claims, and what is true."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from mipsim._validation import check_fields, member, number
from mipsim._words import printable, quoted, shortened
from mipsim.referee.domain import AbstractParameter, Fixed
from mipsim.referee.kinds import Kind, Limit

READING = "reading"
"""The name of the parameter whose choices are the ways to read a statement: each gets a verdict of its own."""
MOST_SHIFT = 0.05
"""A control makes the claim false by at most this share: a larger error would be seen by a blunt judge too."""


@dataclass(frozen=True)
class Quote:
    """A sentence of a paper and where it stands.

    Attributes:
        text: verbatim; what a machine misread in a formula may be put right.
        place: for example "theorem 3.1, p. 5".
        reported: whether it is somebody else's sentence about what is stated.

    Examples:
        >>> Quote("For n large.", "p. 4").place
        'p. 4'
    """

    text: str
    place: str
    reported: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def role(self) -> str:
        """What a report writes beside it.
        >>> Quote("They say that all is well.", "p. 4", reported=True).role
        'As reported'
        """
        return "As reported" if self.reported else "As stated"


@dataclass(frozen=True)
class Point:
    """A point of the domain that is always judged.

    Attributes:
        at: a value for each parameter.
        name: short; the values themselves if empty.
        setting: "paper" if it is among the paper's own settings; "lead" if it shows best what is wrong with the statement: reports
            show it first if it is refuted; "paper, lead" if both.

    Examples:
        >>> Point({"n": 10}, setting="paper").setting
        'paper'
    """

    at: Mapping[str, Any]
    name: str = ""
    setting: str = ""


@dataclass(frozen=True)
class Control:
    """A negative control: the point and the change that make the statement false. The same judge must refute it.

    Attributes:
        at: the point.
        shift: the claim is made stricter by this share (of the number, or of the claim's own mu), at most 0.05, not 0.
        attained: for a loose bound, which no small shift makes false: the claim itself replaces the truth.
        claimed, truth: replace the statement's own functions if the control changes something other than the claimed number or mu.
            They are functions of 1 + shift and then of the point. With 1 instead of 1 + shift they must equal the statement's own.

    Raises:
        ValueError: if the shift is 0 or larger than 0.05.

    Examples:
        >>> Control({"n": 10}, shift=0.2)
        Traceback (most recent call last):
            ...
        ValueError: shift is 0.2; it must be at most 0.05 in absolute value and not 0
    """

    at: Mapping[str, Any]
    shift: float = 0.03
    attained: bool = False
    claimed: Callable[..., Any] | None = field(default=None, kw_only=True)
    truth: Callable[..., Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self)
        member("at", self.at, Mapping, "a point, such as {'n': 10}")
        if not 0.0 < abs(number("shift", self.shift)) <= MOST_SHIFT:
            raise ValueError(
                f"shift is {self.shift:g}; it must be at most {MOST_SHIFT:g} in absolute value and not 0"
            )


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A theorem as data, for `judge` and `hunt`.

    `where`, `claimed` and `truth` are called with the parameters that they name.

    Args:
        name: a short name of letters, digits, dots and dashes.
        says: the statement in words (Markdown and LaTeX).
        source: the paper and the number.
        kind: `Bound()`, `Equality(...)`, `Ordering()` or `Limit(...)`.
        domain: the parameters that the wording leaves free, with all values that it allows and their meanings.
        claimed: the claim at a point: a trade-off function or a number (for `Ordering` anything that truth may be).
        truth: the truth at a point: a trade-off function; a number, or a `Number` with its proven error; (game, attack); or a
            pair of samplers (out, in), each called with (generator, games) and returning scores of shape (games,).
            A curve that is not exact to the rounding of float64 gives its proven error by `enclosure`.
        where: assumptions that tie parameters together; points outside are no counterexamples. None: all points.
        defer_where: evaluate `where` of the points and of the control only when they are judged, because it is expensive.
        points: points that are always judged: mappings, or `Point`s.
        control: the change of a few per cent that makes the statement false.
        quote: the sentence that is judged.
        restricted_by: sentences elsewhere in the paper that restrict it; what they exclude is outside the domain.
        slip: for a slip of the pen, the wrong place and the right place of the same paper.
        fails: for a statement that is refuted, why, in a sentence: its report begins with it.
        instead: for a statement that is refuted, what holds instead, in a few words; "" where nothing is known to.
        derivation: for a correction: every condition, and a proof or a theorem for each step.
        second_route: a function that computes the same quantity by other code, at the counterexamples that a report shows. It returns a `Replication` or
            `Draws`, whose interval must exclude the claim.
        corrects: the name of the statement that this statement corrects.
        formula: the claim in LaTeX without dollar signs; the report shows it above the words.
        snippet: a program that shows a counterexample without mipsim; the report of a refuted statement shows it.
        matters_when: parameter -> a function of the other parameters that says where it matters. Elsewhere it changes neither claim nor
            truth, and counterexamples leave it out. Parameters that are not named matter everywhere.
        restored_by: for a refuted statement, a condition in words ("the data are Gaussian") and as a function of the parameters. All
            points that satisfy it stand, so the defect is that the condition is missing. Where a limit is used at a finite size: what
            grows ("T grows"), and the name of the statement that proves the limit.

    Raises:
        ValueError: if an argument is not allowed, a function has a parameter that the domain does not have, or a point is outside
            the domain.

    Source: Claessen and Hughes (2000), "QuickCheck", for statements as data with a domain to search.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim import referee as rf
        >>> statement = rf.Statement(
        ...     name="gaussian", says="A shift by s in noise of deviation sigma is (s / sigma)-GDP.", source="folklore",
        ...     kind=rf.Bound(), domain={"s": rf.Real(0.0, 2.0), "sigma": rf.Real(0.1, 10.0, log=True)},
        ...     claimed=lambda s, sigma: mi.GaussianTradeOff(s / sigma),
        ...     truth=lambda s, sigma: mi.GaussianTradeOff(s / sigma),
        ... )
        >>> str(rf.judge(statement, at=[{"s": 1.0, "sigma": 2.0}]).verdict)
        'CONFIRMED'
    """

    name: str
    says: str
    source: str
    kind: Kind
    domain: Mapping[str, AbstractParameter]
    claimed: Callable[..., Any]
    truth: Callable[..., Any]
    where: Callable[..., bool] | None = None
    defer_where: bool = False
    points: Sequence[Any] = ()
    control: Control | None = None
    quote: Quote | None = None
    restricted_by: tuple[Quote, ...] = ()
    slip: tuple[Quote, Quote] | None = None
    fails: str = ""
    instead: str = ""
    derivation: str = ""
    second_route: Callable[..., Any] | None = None
    corrects: str = ""
    formula: str = ""
    snippet: str = ""
    matters_when: Mapping[str, Callable[..., bool]] = field(default_factory=dict)
    restored_by: tuple[str, Callable[..., bool] | str] | None = None
    _asks: Mapping[str, frozenset[str] | None] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("name", "says", "source"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise ValueError(f"{shortened(name, 30)} is {quoted(getattr(self, name))}; it must be words")
        if not all(letter.isalnum() or letter in ".-_" for letter in self.name):
            raise ValueError(
                f"name is {quoted(self.name)}; it must be letters, digits, dots, dashes and underscores"
            )
        if not isinstance(self.kind, Kind):
            raise ValueError(
                f"kind of {self._named} is {quoted(self.kind)}; it must be Bound(), Equality() or another kind"
            )
        if not isinstance(self.domain, Mapping) or not self.domain:
            raise ValueError(
                f"domain of {self._named} is {quoted(self.domain)}; it must name at least 1 parameter"
            )
        for name, parameter in self.domain.items():
            if not isinstance(name, str) or not name.isidentifier():
                raise ValueError(
                    f"domain of {self._named} names {quoted(name)}; a parameter needs a name of Python"
                )
            if not isinstance(parameter, AbstractParameter):
                raise ValueError(
                    f"domain of {self._named} has {quoted(parameter)} for {shortened(name, 30)}; it must be Real, Whole, Choice or Fixed"
                )
        if isinstance(self.kind, Limit) and not hasattr(self.domain.get(self.kind.grows), "log"):
            raise ValueError(
                f"grows is {quoted(self.kind.grows)}; it must be a Real or Whole parameter of the domain of {self._named}"
            )
        roles = {role: getattr(self, role) for role in ("where", "claimed", "truth", "second_route")}
        if unknown := [name for name in self.matters_when if name not in self.domain]:
            raise ValueError(
                f"matters_when of {self._named} names {quoted(unknown[0])}, which is no parameter; its domain has {_listed(self.domain)}"
            )
        for name, function in self.matters_when.items():
            self._parameters_of(f"matters_when[{quoted(name)}]", function)
        asks = {role: self._parameters_of(role, function) for role, function in roles.items()}
        object.__setattr__(self, "_asks", asks)
        points = tuple(item if isinstance(item, Point) else Point(dict(item)) for item in self.points)
        object.__setattr__(self, "points", points)
        for single in (*points, *(() if self.control is None else (self.control,))):
            self.inside(single.at) if self.defer_where else self.check(single.at)

    @property
    def meanings(self) -> dict[str, str]:
        """Name of each parameter that has a meaning -> what it is."""
        known = {name: parameter.meaning for name, parameter in self.domain.items()}
        if READING in known:
            known[READING] = known[READING] or "how the words are read"
        return {name: words for name, words in known.items() if words}

    @property
    def _named(self) -> str:
        return shortened(self.name, 40)

    def _parameters_of(self, role: str, function: Any) -> frozenset[str] | None:
        """The parameters that a function names; None where it takes any."""
        if function is None and role not in ("claimed", "truth"):
            return frozenset()
        if not callable(function):
            raise ValueError(
                f"{shortened(role, 40)} of {self._named} is {quoted(function)}; it must be a function of the parameters"
            )
        try:
            taken = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return None
        named = {item.name for item in taken if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)}
        needed = {single.name for single in taken if single.name in named and single.default is single.empty}
        if unknown := sorted(needed - set(self.domain)):
            known = _listed(self.domain)
            raise ValueError(
                f"{shortened(role, 40)} of {self._named} asks for {shortened(unknown[0], 30)}, which is no parameter; its domain has {known}"
            )
        if any(item.kind is item.VAR_KEYWORD for item in taken):
            return None
        return frozenset(named & set(self.domain))

    def call(self, role: str | Callable[..., Any], at: Mapping[str, Any]) -> Any:
        """Return what `where`, `claimed`, `truth`, `second_route` or another function says at a point: it is called with the parameters that it names."""
        known = isinstance(role, str)
        asks = self._asks[role] if known else self._parameters_of("a function", role)
        function = getattr(self, role) if known else role
        return function(**(at if asks is None else {name: at[name] for name in at if name in asks}))

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that a point gives a value: all but the parameter that grows in a limit."""
        return tuple(name for name in self.domain if name != getattr(self.kind, "grows", None))

    def mattering(self, at: Mapping[str, Any]) -> dict[str, Any]:
        """The part of a point that matters there: what a counterexample tells.

        Examples:
            >>> from mipsim import referee as rf
            >>> either = rf.Statement(
            ...     name="either", says="x <= 1 or y <= 1", source="nobody", kind=rf.Bound(),
            ...     domain={"which": rf.Choice("x", "y"), "x": rf.Real(0.0, 2.0), "y": rf.Real(0.0, 2.0)},
            ...     claimed=lambda: 1.0, truth=lambda which, x, y: x if which == "x" else y,
            ...     matters_when={"x": lambda which: which == "x", "y": lambda which: which == "y"},
            ... )
            >>> either.mattering({"which": "y", "x": 0.3, "y": 2.0})
            {'which': 'y', 'y': 2.0}
        """
        return {
            name: value
            for name, value in at.items()
            if name not in self.matters_when or self.call(self.matters_when[name], at)
        }

    def essential(self, at: Mapping[str, Any]) -> dict[str, Any]:
        """The part of a point from which `inside` restores a point that has the same claim and truth: what a replay command gives.

        It leaves out parameters that have a fixed value and those that do not matter there.

        Examples:
            >>> from mipsim import referee as rf
            >>> either = rf.Statement(
            ...     name="either", says="x <= 1 or y <= 1", source="nobody", kind=rf.Bound(),
            ...     domain={"which": rf.Choice("x", "y"), "x": rf.Real(0.0, 2.0), "y": rf.Real(0.0, 2.0), "n": rf.Fixed(1)},
            ...     claimed=lambda: 1.0, truth=lambda which, x, y: x if which == "x" else y,
            ...     matters_when={"x": lambda which: which == "x", "y": lambda which: which == "y"},
            ... )
            >>> either.essential({"which": "y", "x": 0.3, "y": 2.0, "n": 1})
            {'which': 'y', 'y': 2.0}
            >>> either.inside({"which": "y", "y": 2.0})
            {'which': 'y', 'x': 0.0, 'y': 2.0, 'n': 1}
        """
        full = {name: at[name] for name in self.free if name in at}
        part = {
            name: value
            for name, value in self.mattering(full).items()
            if not isinstance(self.domain[name], Fixed)
        }
        try:
            restored = self.check(part)
        except ValueError:
            return full
        return part if self.mattering(restored) == self.mattering(full) else full

    def _restored(self, at: Mapping[str, Any]) -> dict[str, Any]:
        """The point with values for the parameters that it leaves out: those that have a fixed value, or that do not matter there."""
        missing = [name for name in self.free if name not in at]
        usual = self.points[0].at if self.points else {}
        filled = {name: usual.get(name, self.domain[name].ends[0]) for name in missing}
        result = {name: at.get(name, filled.get(name)) for name in self.free}
        for name in missing:
            needed = name not in self.matters_when or self.call(self.matters_when[name], result)
            if needed and not isinstance(self.domain[name], Fixed):
                raise ValueError(
                    f"at has no value for {shortened(name, 30)}; a point of {self._named} must give all parameters that matter there"
                )
        return result

    def stands(self, at: Mapping[str, Any]) -> bool:
        """Whether a point satisfies the assumptions.

        In a limit they are required at the largest size.
        """
        if self.where is None:
            return True
        if isinstance(self.kind, Limit):
            at = dict(at) | {self.kind.grows: self.domain[self.kind.grows].ends[-1]}
        return bool(self.call("where", at))

    def check(self, at: Mapping[str, Any]) -> dict[str, Any]:
        """Return the point, in the order of the domain, with plain numbers.

        Raises:
            ValueError: if a parameter is unknown or outside its range, a parameter that matters is missing, or an assumption fails.
        """
        result = self.inside(at)
        if not self.stands(result):
            raise ValueError(
                f"where of {self._named} excludes {printable(result, 100)}; a point must satisfy the assumptions"
            )
        return result

    def inside(self, at: Mapping[str, Any]) -> dict[str, Any]:
        """The same as `check`, but for the assumptions; a parameter that has a fixed value, or does not matter at the point,
        may be missing.
        """
        if not isinstance(at, Mapping):
            raise ValueError(f"at holds {quoted(at)}; a point must be a mapping from parameters to values")
        if unknown := [name for name in at if name not in self.free]:
            known = _listed(self.free)
            raise ValueError(
                f"at names {quoted(unknown[0])}, which is no parameter of {self._named}; it has {known}"
            )
        given = {}
        for name, value in at.items():
            plain = value.item() if isinstance(value, np.generic) else value
            if not self.domain[name].allows(plain):
                raise ValueError(
                    f"{shortened(name, 30)} is {quoted(plain)}; {self._named} allows {printable(self.domain[name], 70)}"
                )
            given[name] = plain
        return self._restored(given)

    def corrected(self, **changes: Any) -> Statement:
        """Return a corrected copy of the statement; it `corrects` this statement.

        Args:
            changes: arguments of `Statement`. In `domain` name only the parameters that differ. The default name is the original's
                with "-corrected" after it. The copy has the original's quotes, restrictions, slip and meanings, its formula unless `claimed` changes, but not its snippet,
                why it fails and what holds instead. It leaves out points outside the new domain, a control there or with its own functions, and, where claim or truth changes, the
                theorems of the kind: they are about both.

        Raises:
            ValueError: as `Statement`; or if the words, the claim and the assumptions are all unchanged.

        Examples:
            >>> from mipsim import referee as rf
            >>> printed = rf.Statement(
            ...     name="square", says="x <= x^2", source="a slip", kind=rf.Bound(), domain={"x": rf.Real(0.0, 2.0)},
            ...     claimed=lambda x: x * x, truth=lambda x: x,
            ... )
            >>> right = printed.corrected(says="x <= x^2 for x >= 1", where=lambda x: x >= 1)
            >>> right.name, right.corrects, str(rf.judge(right, budget=0).verdict)
            ('square-corrected', 'square', 'CONFIRMED')
        """
        known = {item.name for item in fields(self) if item.init}
        if unknown := sorted(set(changes) - known):
            raise ValueError(f"corrected is given {quoted(unknown[0])}, which is no part of a statement")
        if not set(changes) & {"says", "kind", "domain", "claimed", "truth", "where"}:
            raise ValueError(f"corrected of {self._named} changes nothing that it says, claims or assumes")
        changed = {
            "name": f"{self.name}-corrected",
            "corrects": self.name,
            "points": (),
            "control": None,
            "formula": "" if "claimed" in changes else self.formula,
            "snippet": "",
            "fails": "",
            "instead": "",
            "restored_by": None,
        } | changes
        if "domain" in changes:
            meanings = {name: item.meaning for name, item in self.domain.items()}
            changed["domain"] = dict(self.domain) | {
                name: item.means(meanings[name])
                if meanings.get(name) and not getattr(item, "meaning", "?")
                else item
                for name, item in changes["domain"].items()
            }
        result = replace(self, **changed)
        retained: dict[str, Any] = {}
        if "kind" not in changes and {"claimed", "truth"} & set(changes):
            theorems = {name: None for name in ("rate", "ceiling") if hasattr(self.kind, name)}
            retained["kind"] = replace(self.kind, **theorems)
        deferred = "where" not in changes
        if "points" not in changes:
            points = self.points
            retained["points"] = tuple(item for item in points if result.holds_point(item.at, deferred))
        control = self.control
        if "control" not in changes and control is not None and control.claimed is None is control.truth:
            retained["control"] = control if result.holds_point(control.at, deferred) else None
        return replace(result, **retained)

    def restored(self, at: Mapping[str, Any], deferred: bool = False) -> dict[str, Any] | None:
        """A point of the domain with the parameters that it leaves out, or None if it lies outside.

        Args:
            at: the point; parameters that have a fixed value, or do not matter there, may be missing.
            deferred: whether assumptions that `defer_where` puts off count as satisfied.
        """
        try:
            return self.inside(at) if deferred and self.defer_where else self.check(at)
        except ValueError:
            return None

    def holds_point(self, at: Mapping[str, Any], deferred: bool = False) -> bool:
        """Whether a point lies in the domain; see `restored`."""
        return self.restored(at, deferred) is not None

    def record(self) -> dict[str, Any]:
        """The statement as JSON holds it: all but its functions."""
        return {
            "name": self.name,
            "says": self.says,
            "formula": self.formula,
            "snippet": self.snippet,
            "source": self.source,
            "kind": self.kind.record(),
            "domain": {name: parameter.record() for name, parameter in self.domain.items()},
            "meanings": dict(self.meanings),
            "restricted": self.where is not None,
            "quote": None if self.quote is None else vars(self.quote),
            "restricted_by": [vars(quote) for quote in self.restricted_by],
            "slip": None if self.slip is None else [vars(quote) for quote in self.slip],
            "fails": self.fails,
            "derivation": self.derivation,
            "corrects": self.corrects,
            "control": None
            if self.control is None
            else {name: getattr(self.control, name) for name in ("at", "shift", "attained")},
        }


def _listed(names: Iterable[str]) -> str:
    return printable(", ".join(names), 30)
