"""A `Statement` as the register's judge, report and command see it, while claims of both forms stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mipsim import referee as rf
from mipsim.referee.domain import Choice, Fixed
from mipsim.referee.judging import GAMES
from mipsim.referee.point import controlled, judge_point, point_seed
from mipsim.referee.sampling import draws
from mipsim.referee.statement import inner
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.control import Control

KINDS = {
    rf.Bound: Kind.BOUND,
    rf.Equality: Kind.EXACT,
    rf.Ordering: Kind.ORDERING,
    rf.Limit: Kind.LIMIT,
    rf.Exists: Kind.EXISTENCE,
}
SAMPLES = (8, 24, 200)


def claims_in(paper: str, modules: Sequence[Any]) -> tuple[Claim, ...]:
    """What the modules of a paper hold: `CLAIMS`, or `STATEMENTS` with optional `SAMPLES`, `BY_GAMES` and `LAWS`.

    `LAWS` names the exact laws that all statements of a module ask for: they draw the same points.
    """
    found: list[Claim] = []
    for module in modules:
        found += getattr(module, "CLAIMS", ())
        statements = getattr(module, "STATEMENTS", ())
        claims = claims_of(
            paper, statements, getattr(module, "SAMPLES", None), getattr(module, "BY_GAMES", ())
        )
        claims = tuple(replace(one, laws=getattr(module, "LAWS", "")) for one in claims)
        found += with_formulas(claims, statements)
    return tuple(found)


def claims_of(
    paper: str,
    statements: Sequence[rf.Statement],
    samples: Mapping[str, tuple[int, int, int]] | None = None,
    by_games: Iterable[str] | Mapping[str, Callable[[Mapping[str, Any]], bool]] = (),
) -> tuple[Claim, ...]:
    """The statements of a paper as claims.

    Args:
        paper: its short name.
        statements: printed ones and corrections.
        samples: name -> points that are drawn at quick, standard and full; else `SAMPLES`.
        by_games: names of statements whose points are played: they share the failure probability. Where only some points of a
            statement are, name -> whether this point is; none of them is drawn.
    """
    corrections = {one.corrects: one for one in statements if one.corrects}
    games = by_games if isinstance(by_games, Mapping) else dict.fromkeys(by_games, _always)
    return tuple(
        _claim(paper, one, corrections, (samples or {}).get(one.name, SAMPLES), games.get(one.name, _never))
        for one in statements
    )


def _claim(
    paper: str,
    statement: rf.Statement,
    corrections: Mapping[str, rf.Statement],
    samples: tuple[int, int, int],
    played: Callable[[Mapping[str, Any]], bool],
) -> Claim:
    twin = corrections.get(statement.name)
    kind = inner(statement.kind)
    tolerance = getattr(kind, "tolerance", None)
    return Claim(
        id=statement.name,
        paper=paper,
        statement=statement.says,
        kind=KINDS[type(statement.kind)],
        tolerance=0.02 if tolerance is None and not kind.one_sided else tolerance or 0.0,
        unit=kind.unit if kind.unit != "number" else "probit",
        domain={name: _described(one) for name, one in statement.domain.items()},
        regimes=tuple(
            _regime(statement, one.at, one.name, one.setting, played(one.at)) for one in statement.points
        ),
        control=_control(statement),
        corrects=statement.corrects or None,
        corrected_by=None if twin is None else twin.name,
        derivation=statement.derivation,
        quote=statement.quote,
        restricted_by=statement.restricted_by,
        slip=statement.slip,
        same_formula=False,
        sampled=None if played is _always or not any(samples) else partial(_drawn, statement, played),
        samples=samples,
    )


def with_formulas(claims: Sequence[Claim], statements: Sequence[rf.Statement]) -> tuple[Claim, ...]:
    """Tell which corrections keep the printed formula: the same function is claimed."""
    by_name = {one.name: one for one in statements}
    return tuple(
        replace(
            one,
            same_formula=bool(one.corrects)
            and one.corrects in by_name
            and by_name[one.id].claimed is by_name[one.corrects].claimed,
        )
        for one in claims
    )


def _described(parameter: Any) -> Between | OneOf:
    if isinstance(parameter, Choice):
        return OneOf(tuple(map(str, parameter.values)))
    if isinstance(parameter, Fixed):
        return OneOf((str(parameter.fixed),))
    return Between(
        parameter.low, parameter.high, f"searched from {parameter.ends[0]:g} to {parameter.ends[-1]:g}"
    )


def name_of(at: Mapping[str, Any]) -> str:
    """The point in words."""
    return ", ".join(
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in at.items()
    )


def _regime(
    statement: rf.Statement, at: Mapping[str, Any], name: str = "", setting: str = "", random: bool = False
) -> Regime:
    return Regime(
        name or name_of(at),
        dict(at),
        partial(judged, statement, dict(at)),
        str(at.get("reading", "")),
        random,
        setting,
    )


def judged(statement: rf.Statement, at: Mapping[str, Any], budget: Budget) -> RegimeResult:
    """One point."""
    result = judge_point(
        statement,
        at,
        risk=budget.failure_probability,
        games=budget.games(GAMES // 2, GAMES, 5 * GAMES),
        seed=point_seed(budget.study_seed, statement.name, at),
    )
    return replace(result, reading=str(at.get("reading", "")))


def _always(_: Mapping[str, Any]) -> bool:
    return True


def _never(_: Mapping[str, Any]) -> bool:
    return False


def _drawn(
    statement: rf.Statement, played: Callable[[Mapping[str, Any]], bool], rng: np.random.Generator, count: int
) -> list[Regime]:
    found = []
    for _ in range(count):
        points = (
            one for one in draws(statement, int(rng.integers(2**31))) if one.even and not played(one.at)
        )
        found.append(_regime(statement, next(points).at))
    return found


def _control(statement: rf.Statement) -> Control:
    control = statement.control
    assert control is not None, statement.name

    def build(factor: float) -> Regime:
        if factor == 1.0 and not control.attained:
            point = next(
                (one for one in statement.points if dict(one.at) == dict(control.at)), rf.Point(control.at)
            )
            return _regime(statement, point.at, point.name, point.setting)
        false = controlled(
            replace(statement, control=replace(control, shift=control.shift if factor != 1.0 else 1e-300))
        )
        return _regime(false, control.at)

    return Control(build, control.shift, "the claim in the place of the truth" if control.attained else "")
