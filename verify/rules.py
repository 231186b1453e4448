"""Rules of form that every statement of the register keeps; each function returns the violations, in sentences."""

import re
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from scipy.special import ndtr

from mipsim.referee import Choice, Fixed, Limit, Statement, Verdict, Whole
from mipsim.referee.defect import Defect
from mipsim.referee.judging.point import controlled, judge_point
from mipsim.referee.judging.prepared import Share, limit_sizes, prepare
from mipsim.referee.result import PointResult
from mipsim.referee.statement import READING
from mipsim.referee.values import Number, Samplers, Value
from verify.statement import Statement as Registered


def root_of(statement: Statement) -> str:
    """The printed statement that a statement is or corrects."""
    return statement.corrects or statement.name


def broken_uses(register: Mapping[str, Registered]) -> list[str]:
    """What is wrong with the statements that others rest on.

    A statement uses statements of the register, in no circle, among them all that its words or its derivation name. Where a
    used statement is refuted as printed, a correction may not use it; a printed statement is refuted too, or its `unreached`
    holds at each of its points.

    `register`: name -> statement.

    >>> broken_uses({})
    []
    """
    # Refuted, as far as is known without judging.
    refuted, result = {item.corrects for item in register.values() if item.corrects}, []
    for item in register.values():
        for name in item.uses:
            if name not in register or name == item.name:
                result.append(f"{item.name} uses {name}, which is no other statement of the register")
            elif name in refuted:
                result += _unmet(item, name, refuted)
        for name in sorted(_named(item, register) - {*item.uses}):
            result.append(f"{item.name} names {name} and does not use it")
    try:
        TopologicalSorter({item.name: item.uses for item in register.values()}).prepare()
    except CycleError as error:
        result.append(f"these use each other: {', '.join(error.args[1])}")
    return result


def _unmet(item: Registered, name: str, refuted: Collection[str]) -> list[str]:
    if item.corrects:
        return [f"{item.name} corrects a statement and uses {name}, which is refuted as printed"]
    if name not in item.unreached:
        wanted = f"{item.name} uses {name}, which is refuted as printed: it is judged with it as printed"
        return (
            []
            if item.name in refuted
            else [f"{wanted}, or says in `unreached` why the defect does not matter"]
        )
    return [
        f"{item.name} uses {name}, whose defect reaches it at {dict(point.at)}"
        for point in item.points
        if not item.call(item.unreached[name], point.at)
    ]


def _named(item: Statement, register: Mapping[str, Statement]) -> set[str]:
    """The statements that words and derivation name, but for its own and those of the same correction."""
    names = set(re.findall(r"[a-z]+-[\w.-]*[\w]", f"{item.says} {item.derivation}"))
    return {name for name in names & set(register) if root_of(register[name]) != root_of(item)}


def unmet_needs(
    statement: Statement, needs: Mapping[str, Mapping[str, Any]], register: Mapping[str, Statement]
) -> list[str]:
    """Conditions that a statement's words name, or those by which it is restricted, and that its page does not need.

    A need has any of these forms:

    - {"held": {NAME: VALUE, ...}}: a point of the statement, changed so, breaks the condition: it is in the domain, and `where` rejects it.
    - {"added": {NAME: VALUE, ...}}: the same of a correction, and the statement that it corrects accepts the changed point.
    - {"fails": STATEMENT, "at": {NAME: VALUE, ...}}: without the condition, at this point, that printed statement is refuted.

    Args:
        statement: what has the conditions, a correction or another.
        needs: a condition in its words, or in those of `restricted_by` -> where it is needed.
        register: the statements that needs may refer to.

    Examples:
        >>> from mipsim import referee as rf
        >>> named = rf.Statement(
        ...     name="named", says="For x >= 1/2, x <= 1.", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
        ...     claimed=lambda: 1.0, truth=lambda x: x, where=lambda x: x >= 0.5, points=[{"x": 0.75}],
        ... )
        >>> unmet_needs(named, {"x >= 1/2": {"held": {"x": 0.25}}}, {})
        []
        >>> unmet_needs(named, {"x >= 1/2": {"held": {"x": 0.6}}}, {})
        ["named: 'x >= 1/2' is {'held': {'x': 0.6}}, which its where accepts"]
    """
    texts = (statement.says, *(quote.text for quote in statement.restricted_by))
    return [
        f"{statement.name}: {words!r} {why}"
        for words, target in needs.items()
        if (
            why := _unbroken(statement, target, register)
            if any(words in text for text in texts)
            else "is not in its words"
        )
    ]


def _unbroken(statement: Statement, target: Mapping[str, Any], register: Mapping[str, Statement]) -> str:
    """Why a point does not show what fails without the condition."""
    if "fails" in target:
        other = register.get(target["fails"])
        if other is None or other.corrects:
            return f"makes {target['fails']} fail, which is no printed statement"
        at, judged = other.check(target["at"]), replace(other, second_route=None)
        outcome = judge_point(judged, at, Share(1e-9, 100_000, 0))
        return "" if outcome.verdict is Verdict.REFUTED else f"is {target}, where that stands"
    ((form, changes),) = target.items()
    printed = register.get(statement.corrects) if form == "added" else None
    if form == "added" and printed is None:
        return f"is {target}, and it corrects nothing"
    why = f"is {target}, which its where accepts"
    for point in statement.points:
        try:
            at = statement.inside({**point.at, **changes})
        except ValueError as error:
            return f"is {target}, but {error}"
        if not statement.stands(at):
            if printed is None or _has_conditions(printed, statement, at, ()):
                return ""
            why = f"is {target}, which {printed.name} rejects too"
    return why


def listed_defects(page: str) -> dict[str, str]:
    """Name of each statement in the tables of a page of findings -> the class of its defect that stands there.
    >>> listed_defects("| lemma 1 (`a-lemma-1`), theorem (`a-thm`) | formula | everywhere | |")
    {'a-lemma-1': 'formula', 'a-thm': 'formula'}
    """
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    return {name: cells[1] for cells in rows for name in re.findall(r"\(`(\S+)`\)", cells[0])}


def broken_example(
    statement: Statement,
    example: PointResult,
    correction: Statement | None,
    defect: str | None,
    entered: Collection[str] = (),
) -> list[str]:
    """What is wrong with a reported counterexample.

    It lies in the domain, which is what the paper's words allow; a second route sees it; each parameter that it prints matters; and it shows
    the defect: where a condition is missing it violates it, and where the formula is wrong it meets all conditions of the correction, but
    for the parameters by which the formula itself enters.

    `statement`: that is refuted; `example`: the point, judged; `correction`: the corrected statement, if there is a
    correction; `defect`: its class; `entered`: the parameters by which a wrong formula enters.

    >>> from mipsim import referee as rf
    >>> small = rf.Statement(
    ...     name="small", says="x^2 <= 1", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 2.0)},
    ...     claimed=lambda: 1.0, truth=lambda x: x * x,
    ... )
    >>> (point,) = rf.judge(small, at={"x": 2.0}).judged
    >>> broken_example(small, point, None, "formula")
    ['small: no second route sees its counterexample']
    """
    at = {name: example.parameters[name] for name in statement.free}
    result = (
        [] if statement.holds_point(at) else [f"{statement.name}: its counterexample is outside its domain"]
    )
    if example.second_route is None or not example.second_route.excludes:
        result.append(f"{statement.name}: no second route sees its counterexample")
    result += [
        f"{statement.name}: its counterexample prints {name}, which changes nothing there"
        for name in idle_at(statement, at)
    ]
    restored = statement.restored_by and statement.restored_by[1]
    # That sizes grow is a condition which no point has.
    if (
        defect == Defect.CONDITION
        and not isinstance(restored, str)
        and (
            statement.call(restored, at)
            if restored is not None
            else correction is not None
            and isinstance(correction.kind, Limit) <= isinstance(statement.kind, Limit)
            and _has_conditions(correction, statement, at, ())
        )
    ):
        result.append(f"{statement.name}: its counterexample meets the condition that is missing")
    if defect == Defect.FORMULA and not (
        correction is None or _has_conditions(correction, statement, at, entered)
    ):
        result.append(
            f"{statement.name}: its formula is wrong, and its counterexample is outside the conditions of {correction.name}"
        )
    return result


def _has_conditions(
    correction: Statement, statement: Statement, at: Mapping[str, Any], but: Collection[str]
) -> bool:
    """Whether a point meets the conditions of a correction, in any of its readings; parameters of a single reading do not count."""
    mattering = statement.mattering(at)
    shared = [name for name in correction.free if name in at and name not in but and name != READING]
    if not all(correction.domain[name].allows(at[name]) for name in shared if name in mattering):
        return False
    fixed = {name: item.ends[0] for name, item in correction.domain.items() if isinstance(item, Fixed)}
    known = fixed | {name: at[name] for name in shared}
    readings = correction.domain[READING].ends if READING in correction.free else (None,)
    tried = [known if reading is None else known | {READING: reading} for reading in readings]
    # Where the correction asks for a parameter that the point does not have, the domain alone decides.
    return any(not set(correction.free) <= set(point) or correction.stands(point) for point in tried)


PROBES = np.array([-33.0, -12.0, -6.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
"""Probits of the FPRs at which two curves are compared."""
TRIES = 6
"""Other values of a parameter that are tried at a point."""
DRAWS = 64
"""Scores of each world by which two samplers are compared."""
LEAST = 40
"""Points at which a parameter that has changed nothing yet is tried, however long it takes."""


def vacuous(statement: Statement, seconds: float = 10.0) -> list[str]:
    """Parameters that change neither claim nor truth, or that change either where they are declared not to matter.

    Each parameter is changed alone at the statement's points until it has changed something, as long as the time lasts, but at
    `LEAST` points at least. A limit is looked at where it begins. What changes nothing is tried on the control too, where the statement
    is made false.

    `statement`: what is looked at; `seconds`: that it may take, about.

    >>> from mipsim import referee as rf
    >>> idle = rf.Statement(
    ...     name="idle", says="x <= 1", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0), "y": rf.Real(0.0, 1.0)},
    ...     claimed=lambda: 1.0, truth=lambda x: x, points=[{"x": 0.5, "y": 0.5}],
    ... )
    >>> vacuous(idle)
    ['idle: y changes neither claim nor truth at 1 point']
    """
    began, rng = time.perf_counter(), np.random.default_rng(0)
    varied = [name for name in statement.free if not isinstance(statement.domain[name], Fixed)]
    unsettled, tried, result = set(varied), dict.fromkeys(varied, 0), []
    for at in _covering(statement):
        mattering = statement.mattering(at)
        for name in varied:
            late = time.perf_counter() - began > seconds and (tried[name] >= LEAST or name not in mattering)
            if late or (name in mattering and name not in unsettled):
                continue
            moved = _moves(statement, name, at, rng)
            if name not in mattering:
                if moved:
                    result.append(f"{statement.name}: {name} is declared not to matter at {at}, and does")
            elif moved is not None:
                tried[name] += 1
                unsettled -= {name} if moved else set()
    for name in varied:
        if name in unsettled and tried[name]:
            points = f"{tried[name]} point" + "s" * (tried[name] > 1)
            result.append(f"{statement.name}: {name} changes neither claim nor truth at {points}")
    return result


def idle_at(statement: Statement, at: Mapping[str, Any]) -> list[str]:
    """The parameters that a counterexample prints though they change neither claim nor truth there.
    `statement`: whose point it is; `at`: the point.

    >>> from mipsim import referee as rf
    >>> both = rf.Statement(
    ...     name="both", says="x y <= 1", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 2.0), "y": rf.Real(0.0, 2.0)},
    ...     claimed=lambda: 1.0, truth=lambda x, y: x * y,
    ... )
    >>> idle_at(both, {"x": 2.0, "y": 1.0}), idle_at(both, {"x": 0.0, "y": 1.0})
    ([], ['y'])
    """
    rng = np.random.default_rng(0)
    printed = [name for name in statement.mattering(at) if name in statement.free]
    varied = [name for name in printed if not isinstance(statement.domain[name], Fixed)]
    return [name for name in varied if _moves(statement, name, at, rng) is False]


def _moves(statement: Statement, name: str, at: Mapping[str, Any], rng: np.random.Generator) -> bool | None:
    """Whether a parameter changed alone changes claim or truth at a point, or those of the control; None if it can take no other value."""
    others = [{**at, name: value} for value in _others(statement, name, at, rng)]
    others = [other for other in others if statement.holds_point(other)][:TRIES]
    if not others:
        return None
    base = _seen(statement, at, at)
    if any(not _alike(_seen(statement, other, at), base) for other in others):
        return True
    # What holds everywhere has truths that are all alike, its control has not.
    if statement.control is None or statement.control.attained:
        return False
    spoiled = controlled(statement)
    base = _seen(spoiled, at, at)
    return any(not _alike(_seen(spoiled, other, at), base) for other in others)


def _covering(statement: Statement) -> list[dict[str, Any]]:
    """The statement's points, those first that show another combination of choices."""
    seen, first, rest = set(), [], []
    for point in statement.points:
        key = tuple(value for name, value in point.at.items() if isinstance(statement.domain[name], Choice))
        (rest if key in seen else first).append(dict(point.at))
        seen.add(key)
    return first + rest


def _others(statement: Statement, name: str, at: Mapping[str, Any], rng: np.random.Generator) -> list[Any]:
    parameter = statement.domain[name]
    tried = [parameter.value(rng.random()) for _ in range(3)] + list(parameter.ends)
    if not isinstance(parameter, Choice):
        near = [type(at[name])(at[name] * factor) for factor in (0.5, 0.9, 1.1, 2.0)]
        if isinstance(parameter, Whole):
            near += [at[name] + step for step in (-2, -1, 1, 2)]
        tried += [value for value in near if parameter.allows(value)]
    return [value for value in dict.fromkeys(tried) if value != at[name]]


def _seen(statement: Statement, at: Mapping[str, Any], sized: Mapping[str, Any]) -> list[Any]:
    """What claim and truth are at a point, for `_alike`; the error where they raise an error.

    Of a limit they are seen where the sizes of the point `sized` begin, so that a parameter which only moves the first size changes
    nothing. The claim is seen at its largest size too: at the first size a whole number of coordinates hides what moves it.
    """
    kind = statement.kind
    try:
        if not isinstance(kind, Limit):
            point = prepare(statement, at)
            return [_rounded(point.claimed), _rounded(point.truth)]
        sizes = limit_sizes(statement, kind, sized)
        first, last = ({**at, kind.grows: size} for size in (sizes[0], sizes[-1]))
        point = prepare(statement, first)
        return [_rounded(value) for value in (point.claimed, point.truth, prepare(statement, last).claimed)]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


def _rounded(value: Value) -> Any:
    if isinstance(value, Number):
        return f"{value.value:.9g}", f"{value.error:.2g}", value.unit  # rounding is no change
    if isinstance(value, Samplers):
        return tuple(value.draw(inside, (0,), DRAWS).tobytes() for inside in (False, True))
    if hasattr(value, "probit_beta"):
        return np.asarray(value.probit_beta(ndtr(PROBES)), float)  # pyright: ignore[reportAttributeAccessIssue]
    return repr(value)


def _alike(first: Any, second: Any) -> bool:
    """Whether claim and truth are equal up to rounding, which is seen in the curve of a billion records."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_alike, first, second))
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.allclose(first, second, rtol=0.0, atol=1e-8, equal_nan=True)
    return type(first) is type(second) and first == second
