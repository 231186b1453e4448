"""Certificates of statements: claim and truth at judged points as formulas, which `mipsim check` computes without the library."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._certify import _exactly, _outward
from mipsim._precision import run_in
from mipsim.referee import Outcome, Verdict
from mipsim.referee.judging.gap import ROUNDING
from mipsim.referee.kinds import Limit
from mipsim.referee.outcome import shown_counterexamples
from mipsim.referee.reporting.plain import plain
from mipsim.referee.result import PointResult, TrendEvidence
from mipsim.referee.statement import Statement
from verify.certificates.curves import Curve, curve_of
from verify.certificates.numbers import Count, NoFormula, Traced, probit, tree_of, value_of
from verify.certificates.tracing import tracing

BITS = 160
POINTS, TRIED = 3, 12
"""Judged points of a statement that a certificate has, and that are tried for it, at most."""
RATES = (1e-3, 0.1, 0.7)
"""FPRs at which curves are compared that agree; of curves that differ, the rate where they differ most."""
FAR = 1.5e308
"""An infinite end, as a number."""
MOST = 400_000
"""Letters of a certificate, at most."""


def certificate_of(outcome: Outcome) -> str:
    """The certificate of what decides a verdict, as JSON; "" where there is none.

    Of a refuted statement: of a counterexample that the report shows. Of a confirmed statement: of some of its judged points.
    Without python-flint there is none.
    """
    try:
        from mipsim import check
    except ModuleNotFoundError:  # the extra `check`
        return ""
    statement, refuted = outcome.statement, outcome.verdict is Verdict.REFUTED
    if refuted:
        points = shown_counterexamples(statement, outcome.judged)
    elif outcome.verdict is Verdict.CONFIRMED:
        points = [item for item in outcome.judged if item.verdict is Verdict.CONFIRMED]
    else:
        return ""
    cases, abouts, claims = list[dict[str, Any]](), list[Any](), list[Any]()
    done = failed = 0
    for point in _various([item for item in points if not item.random and not item.games])[:TRIED]:
        known = list(_cases(statement, point))
        accepted = []
        for case, rate in known:
            question = {"kind": "cases", "cases": [case]}
            ask = [
                {"quantity": name, "at": 0, "low": 0, "high": None} for name in ("claim", "truth", "excess")
            ]
            certificate = {"certificate": "mipsim 1", "question": question, "bits": BITS, "claims": ask}
            try:
                ends = check.computed(certificate)
            except (check.Undecided, RecursionError):
                continue
            if rate is None and not isinstance(statement.kind, Limit):
                ask[2]["stated"] = _stated(point, ends)  # a contradiction is a REJECTED file
                contradicted = not check.proves(ends[2], ask[2] | {"low": str(-(10**308))})
            else:
                contradicted = False
            if not contradicted and not _holds(statement, point, ends):
                continue
            accepted.append((case, rate, ask, ends))
        for case, rate, ask, ends in accepted:
            number = len(cases)
            cases.append(case)
            abouts.append(
                plain(statement.mattering(_at(statement, point))) | ({} if rate is None else {"FPR": rate})
            )
            for claim, (low, high) in zip(ask, ends, strict=True):
                claims.append(
                    claim
                    | {"at": number, "low": _outward(_exactly(low), -1), "high": _outward(_exactly(high), 1)}
                )
        done, failed = done + bool(accepted), failed + (not accepted)
        if done == (1 if refuted else POINTS) or failed > 5 + done:
            break
    if not cases:
        return ""
    about = {
        "statement": statement.name,
        "verdict": str(outcome.verdict),
        "says": " ".join(statement.says.split()),
        "kind": str(statement.kind),
        "excess": "truth less claim" + (", in probits of the TPR at the FPR" if "FPR" in abouts[0] else ""),
        "tolerance": tolerance_of(statement, points[0]),
        "points": abouts,
        "judged points": len(outcome.judged),
    }
    text = json.dumps(
        {
            "certificate": "mipsim 1",
            "about": about,
            "question": {"kind": "cases", "cases": cases},
            "bits": BITS,
            "claims": claims,
        },
        indent=1,
    )
    return text + "\n" if len(text) <= MOST else ""


def _stated(point: PointResult, ends: list[Any]) -> list[str | None]:
    """The ends of the excess by which the judge has decided, widened by rounding; an infinite end is far away."""
    off = ROUNDING * max(1.0, *(abs(float(end)) for pair in ends for end in pair))
    low, high = (min(max(end, -FAR), FAR) for end in point.interval)
    return [(low - off).hex(), (high + off).hex()]


def _various(points: list[PointResult]) -> list[PointResult]:
    """The points, those first that have another combination of words than those before: their functions take other ways."""
    seen, first, rest = set[Any](), list[PointResult](), list[PointResult]()
    for point in points:
        words = tuple(value for value in point.parameters.values() if isinstance(value, str))
        (rest if words in seen else first).append(point)
        seen.add(words)
    return first + rest


def _at(statement: Statement, point: PointResult) -> dict[str, Any]:
    """The parameters of a point, of a limit with the largest size that was judged."""
    at = {name: value for name, value in point.parameters.items() if name in statement.domain}
    if isinstance(statement.kind, Limit):
        if not isinstance(point.evidence, TrendEvidence):
            raise NoFormula("no sizes are known")
        at[statement.kind.grows] = point.evidence.sizes[-1].item()
    return at


def tolerance_of(statement: Statement, point: PointResult) -> float:
    """By how much an excess may differ from 0: of a bound by nothing."""
    return 0.0 if statement.kind.one_sided else (point.tolerance or 0.0)


def _holds(statement: Statement, point: PointResult, ends: list[Any]) -> bool:
    """Whether the proven ends of the excess decide as the verdict does."""
    (low, high), bound = (float(end) for end in ends[2]), statement.kind.one_sided
    tolerance = tolerance_of(statement, point)
    off = ROUNDING * max(1.0, *(abs(float(end)) for end in ends[0]))
    if point.verdict is Verdict.REFUTED:
        return low > tolerance + off or (not bound and high < -tolerance - off)
    return high <= tolerance + off and (bound or low >= -tolerance - off)


def _cases(statement: Statement, point: PointResult) -> Iterator[tuple[dict[str, Any], float | None]]:
    """Claim and truth as formulas, with the FPR where they are curves; none if they have no formula."""
    try:
        at = _at(statement, point)
        with run_in("float64"):
            claimed = _value(statement, "claimed", at)
            truth = _value(statement, "truth", at, curve=isinstance(claimed, Curve))
            pairs = list(_pairs(claimed, truth, point.verdict is Verdict.REFUTED, statement.kind.one_sided))
    except NameError:  # a mistake here
        raise
    except (
        Exception
    ):  # the functions are called with numbers that they were not written for, also by compiled code
        return
    parameters = {
        name: value if isinstance(value, int) else float(value).hex()
        for name, value in at.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    for claim, truth, rate in pairs:
        if claim is None or truth is None:
            continue
        named = _named({"claim": claim, "truth": truth})
        used = _names(list(named.values()))
        yield {name: tree for name, tree in parameters.items() if name in used} | named, rate


def _value(statement: Statement, role: str, at: Mapping[str, Any], curve: bool = True) -> Any:
    """A traced number, or a curve by its formula; else, if a curve is wanted, that of the library's own curve."""
    traced = {name: _traced(name, value) for name, value in at.items()}
    try:
        with tracing():
            value = statement.call(role, traced)
        if isinstance(value, (Traced, Curve)):
            return value
        if isinstance(value, (int, float)) and role == "claimed" and _is_literal(value, at):
            return Traced(value, tree_of(value))
        curve = curve and not isinstance(value, (int, float))
    except NameError:
        raise
    except Exception as error:  # as above
        failed = error
    else:
        failed = NoFormula("a number was computed by code that keeps no formula")
    if not curve:
        raise failed
    return curve_of(statement.call(role, at))


def _traced(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return Count.named(value, name) if isinstance(value, int) else Traced(value, name)


def _is_literal(value: float, at: Mapping[str, Any]) -> bool:
    """Whether a claim is a number that its function has, not a computed number."""
    return any(float(value) == k * 10.0**-p for k in range(-2, 6) for p in range(10))


def _pairs(claimed: Any, truth: Any, refuted: bool, bound: bool) -> Iterator[tuple[Any, Any, float | None]]:
    """The trees of claim and truth; of curves probits of TPRs, with their FPR."""
    if isinstance(claimed, Traced) and isinstance(truth, Traced):
        yield claimed.tree, truth.tree, None
        return
    if not (isinstance(claimed, Curve) and isinstance(truth, Curve)):
        raise NoFormula("a curve is compared with a number")
    rates = RATES
    if refuted:
        rates = sorted(
            map(float, ndtr(np.linspace(-4.0, 4.0, 41))), key=lambda x: -_apart(claimed, truth, x, bound)
        )[:1]
    for rate in rates:
        fpr, tpr = truth.point(rate)
        other = claimed.tpr_at(fpr)
        if all(map(_seen, (tpr, other))):
            yield tree_of(probit(other)), tree_of(probit(tpr)), float(value_of(fpr))


def _apart(claimed: Curve, truth: Curve, rate: float, bound: bool) -> float:
    """How far the truth lies above the claim, in probits."""
    fpr, tpr = truth.point(rate)
    rates = [value_of(x) for x in (tpr, claimed.tpr_at(fpr))]
    gap = float(ndtri(rates[0]) - ndtri(rates[1])) if all(map(_seen, rates)) else -math.inf
    return gap if bound or gap == -math.inf else abs(gap)


def _seen(rate: Any) -> bool:
    """Whether a rate has a probit, to the digits of float64."""
    return 1e-12 < value_of(rate) < 1.0 - 1e-9


def _names(trees: list[Any]) -> set[str]:
    """Names in trees."""
    found, waiting = set[str](), list(trees)
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, list):
            waiting.extend(tree[1:])
        elif isinstance(tree, str) and tree.isidentifier():
            found.add(tree)
    return found


def _named(trees: Mapping[str, Any]) -> dict[str, Any]:
    """The same trees, after what stands in them more than once; sums and products of many terms as a single operation."""
    count: dict[int, int] = {}
    order: list[Any] = []

    def visit(tree: Any) -> None:
        stack = [(tree, False)]
        while stack:
            node, left = stack.pop()
            if not isinstance(node, list):
                continue
            if left:
                order.append(node)
                continue
            count[id(node)] = count.get(id(node), 0) + 1
            if count[id(node)] == 1:
                stack.append((node, True))
                stack.extend((child, False) for child in node[1:])

    for tree in trees.values():
        visit(tree)
    written: dict[int, Any] = {}
    result: dict[str, Any] = {}
    for node in order:
        new = [node[0]]
        for child in node[1:]:
            text = written[id(child)] if isinstance(child, list) else child
            if node[0] in "+*" and isinstance(text, list) and text[0] == node[0]:
                new.extend(text[1:])
            else:
                new.append(text)
        if count[id(node)] > 1 and len(json.dumps(new)) > 20:
            result[f"x{len(result) + 1}"] = new
            written[id(node)] = f"x{len(result)}"
        else:
            written[id(node)] = new
    return result | {
        name: written[id(tree)] if isinstance(tree, list) else tree for name, tree in trees.items()
    }
