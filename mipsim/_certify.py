"""Certificates of numbers, which `mipsim check` accepts or rejects; see docs/certificates.md."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mipsim._extras import optional
from mipsim._files import replace_file
from mipsim._printed import Bounds
from mipsim._validation import file_path, number
from mipsim._words import kind_of
from mipsim.audits.designs import DESIGNS
from mipsim.audits.one_run import SINGLE, chance_of_the_nearest_number
from mipsim.audits.result import Audit
from mipsim.tradeoff.account import DELTAS, EPSILONS, FPRS, Account, bounds_of, wanted_of
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.compose import ComposedTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.gaussian_mixture import GaussianMixtureTradeOff
from mipsim.tradeoff.inverse import InverseTradeOff
from mipsim.tradeoff.laplace import LaplaceTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff

if TYPE_CHECKING:
    from mipsim.attacks.base import AbstractAttack
    from mipsim.games import FixedTarget

WIDTH = 1e-2
# relative: claims are wider than what the checker computed, which may run on other versions of Arb
_SLACK = 1e-10
_MOST_PLACES = 1 << 18
_BITS = 128
_LEAST = 1e-12  # numbers below it may have wider ends
Grids = Callable[[float], tuple[dict[str, Any], bool]]
"""Of a fineness, 1 for the first: what the checker needs beside a question, and whether something finer fits."""
_NAMED = {"epsilon": "delta", "delta": "epsilon", "TPR": "FPR"}


def certify(
    question: AbstractTradeOff | Account | Audit | tuple[FixedTarget, AbstractAttack],
    path: str | os.PathLike[str],
    *,
    delta: float | Iterable[float] = DELTAS,
    epsilon: float | Iterable[float] = EPSILONS,
    fpr: float | Iterable[float] = FPRS,
    width: float = WIDTH,
) -> Path:
    """Write a certificate of numbers: `mipsim check FILE`, which shares no code with the rest of mipsim, accepts it, or rejects it.

    The certificate holds the question, ends of each number that ball arithmetic proves, and the ends that mipsim computes, which may be
    narrower. Both kinds of ends are compared here: if they contradict each other, a program is wrong.

    Args:
        question: an `Account`, whose numbers are certified; an `Audit`, whose counts show a lower bound; a curve: Gaussian and Laplace
            shifts, Poisson samples and mixtures of Gaussians, (epsilon, delta)-DP, their inverses and compositions, in a single direction
            or as the worse of two; or a pair (game, attack), of the mean of Bernoulli data: the likelihood ratio, or a linear score.
        path: of the file, which is replaced.
        delta: of a curve, at which epsilon is certified; an `Account` has its own.
        epsilon: the same, at which delta is.
        fpr: the same, at which the TPR is.
        width: relative, that the ends of each number above 1e-12 should have at most, in [1e-6, 0.5]; they are wider where that takes too long.

    Returns:
        The path.

    Raises:
        ValueError: if no certificate exists for such a question, or an argument is outside its range.
        MissingPackageError: without the extra `mipsim[check]`.
        ArithmeticError: if the two programs contradict each other.

    Source: Doroshenko et al. (2022), "Connect the dots", for compositions; Johansson (2017), "Arb", for balls.

    Examples:
        >>> import tempfile
        >>> from mipsim.check import main
        >>> path = certify(GaussianTradeOff(1.0), tempfile.mkdtemp() + "/certificate.json", epsilon=1.0, delta=(), fpr=())
        >>> main([str(path)])
        proven: delta at 1 is in [0.126936737507, 0.126936737507]
        proven: advantage at 0 is in [0.382924922548, 0.382924922548]
        ACCEPTED
        0
    """
    number("width", width, 1e-6, 0.5)
    target = file_path("path", path)
    optional("flint", "certificates", "check")
    curve = question.curve if isinstance(question, Account) else question
    grids: Grids | None = None
    if isinstance(question, Audit):
        stated, claims = _audited(question)
    elif isinstance(question, tuple):
        stated, claims, grids = _played(question, wanted_of(delta, epsilon, fpr), width)
    elif isinstance(curve, AbstractTradeOff):
        wanted = wanted_of(delta, epsilon, fpr)
        numbers = question.numbers if isinstance(question, Account) else bounds_of(curve, wanted)
        way = curve._one_way()
        neighbours = "add_or_remove" if way else "remove"
        stated = {"kind": "composition", "parts": _parts(way or curve), "neighbours": neighbours}
        claims = [claim for name, ends in numbers.items() if (claim := _claim(name, ends))]
        ways, copies = (curve, curve.inverse()), sum(part["copies"] for part in stated["parts"])
        grids = _grids(
            claims,
            copies,
            width,
            lambda least: 1.0 + max(float(each.epsilon_bounds(least)[1]) for each in ways),
        )
    elif curve is None:
        raise ValueError(
            "question is an account of several trainings at once, which has no certificate; give phases"
        )
    else:
        raise ValueError(
            f"question is {kind_of(question)}; it must be an Account, an Audit or a trade-off curve"
        )
    certificate = {
        "certificate": "mipsim 1",
        "about": repr(question),
        "question": stated,
        "bits": 4 * _BITS if stated["kind"] == "guesses" else _BITS,  # many steps, each of the last
        "claims": claims,
    }
    _prove(certificate, width, grids)
    replace_file(target, json.dumps(certificate, indent=1) + "\n")
    return target


def _audited(audit: Audit) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What an audit counted, as a question, and its lower bounds as claims.

    Of independent scores the thresholds are "out" scores of ranks that the number of these fixes: the FPR of the k-th largest is
    exceeded as often as that of k - 1 false positives, and the "in" scores do not depend on it. Audits calibrate all thresholds
    together, by simulation, and so show somewhat more.
    """
    risk = (1 - Fraction(audit.confidence)) * Fraction(DESIGNS[audit.design].share)
    epsilon = {"quantity": "epsilon", "at": float(audit.delta).hex(), "low": "0/1", "high": None}
    mu = epsilon | {"quantity": "mu", "at": "0/1"}
    if (curve := audit.curve) is not None:
        n, m = curve.out_games, curve.in_games
        doubled = [2**k for k in range(n.bit_length() - 1)]
        ranks = sorted({*doubled, *(n + 1 - rank for rank in doubled)})
        order = np.argsort(curve.false_positives, kind="stable")
        above, missed = curve.false_positives[order], np.minimum.accumulate(curve.false_negatives[order])
        last = np.searchsorted(above, np.array(ranks) - 1, side="right") - 1
        hits = [int(m - missed[at]) if at >= 0 else 0 for at in last]
        thresholds = [{"out": [n, rank - 1], "in": [m, hit]} for rank, hit in zip(ranks, hits, strict=True)]
        advantage = mu | {"quantity": "advantage"}
        return {"kind": "counts", "risk": _written(risk), "thresholds": thresholds}, [epsilon, mu, advantage]
    exchange = audit.exchange or SINGLE
    if audit.inclusion_probability is not None:
        members = np.arange(audit.in_scores + audit.out_scores) < audit.in_scores
        risk *= Fraction(chance_of_the_nearest_number(members, audit.inclusion_probability))
    stated = {
        "kind": "guesses",
        "risk": _written(risk),
        "canaries": audit.used,
        "guesses": [[item.number, item.right] for item in audit.guesses],
        "records": exchange.records,
        "runs": exchange.runs,
    }
    return stated, [epsilon, mu | {"stated": [audit.mu_lower_bound.hex(), None]}]


def _played(
    question: tuple[Any, ...], wanted: dict[str, list[float]], width: float
) -> tuple[dict[str, Any], list[dict[str, Any]], Grids | None]:
    """Of the mean of Bernoulli data, a linear score, or the likelihood ratio."""
    from mipsim._precision import exact_scope
    from mipsim.attacks import LikelihoodRatio
    from mipsim.attacks.base import AbstractLinearAttack
    from mipsim.distributions import Bernoulli
    from mipsim.forms.score import line_at
    from mipsim.games import FixedTarget
    from mipsim.mechanisms import EmpiricalMean

    game, attack = question if len(question) == 2 else (question, None)
    if not (
        isinstance(game, FixedTarget)
        and isinstance(attack, (LikelihoodRatio, AbstractLinearAttack))
        and type(game.mechanism) is EmpiricalMean
        and isinstance(game.data, Bernoulli)
    ):
        raise ValueError(
            "question is a pair; certificates exist of (game, LikelihoodRatio or a linear score) for the mean of Bernoulli data"
        )
    target = np.asarray(game.target)
    if not np.isin(target, (0.0, 1.0)).all():
        other = target[~np.isin(target, (0.0, 1.0))][0]
        raise ValueError(f"question has the target coordinate {other:g}; a certificate needs 0 or 1 in each")
    exact = game.exact(attack)
    claims = [claim for name, ends in bounds_of(exact, wanted).items() if (claim := _claim(name, ends))]
    coins = np.broadcast_to(np.asarray(game.data.p, np.float64), target.shape)
    if isinstance(attack, AbstractLinearAttack):
        with exact_scope():
            weights, offset = line_at(attack, target)
        at = exact.law.threshold_at(np.array(wanted["fpr"])) - offset
        stated, grids = _weighted(game.n, weights, coins, target, at, width)
        return stated, claims, grids
    stated, reach = _ratio(game.n, coins, target)
    return stated, claims, _grids(claims, target.size, width, reach)


def _weighted(
    n: int, weights: np.ndarray, coins: np.ndarray, target: np.ndarray, wanted: np.ndarray, width: float
) -> tuple[dict[str, Any], Grids]:
    """A weighted sum of counts, and thresholds at which the checker looks: those that are wanted, and others from end to end."""
    weights = weights / n
    mean, spread = n * float(weights @ coins), math.sqrt(n * float(weights**2 @ (coins * (1.0 - coins))))
    moved = float(weights @ (target - coins))
    low, high = mean + min(moved, 0.0) - 8.0 * spread, mean + max(moved, 0.0) + 8.0 * spread

    def grid(fineness: float) -> tuple[dict[str, Any], bool]:
        step = spread * width / fineness
        blur, size = step / 10.0, math.ceil((high - low) / step)
        near = [wanted[np.isfinite(wanted)] + shift * blur for shift in (-1.5, 1.5)]
        thresholds = np.sort(np.concatenate([np.linspace(low, high, size), *near]))
        scales = {"tilt": 1.0 / spread, "period": 50.0 * spread, "blur": blur}
        written = {name: x.hex() for name, x in scales.items()}
        return {"thresholds": [x.hex() for x in thresholds], **written}, size < 2000

    rows = zip(map(_written, weights), map(_written, coins), map(int, target), strict=True)
    return {"kind": "weighted", "n": n, "coordinates": [*map(list, rows)]}, grid


def _ratio(n: int, coins: np.ndarray, target: np.ndarray) -> tuple[dict[str, Any], Callable[[float], float]]:
    """The likelihood ratio: a composition of coordinates. Each is a count of n records, with the target among them or not."""
    from scipy.stats import binom

    parts = []
    for p, z in zip(map(Fraction, map(float, coins)), target, strict=True):
        coin = [_written(1 - p), _written(p)]
        shifted = ["0/1", "1/1"] if z else ["1/1"]
        parts.append({"in": [[coin, n - 1], [shifted, 1]], "out": [[coin, n]], "copies": 1})

    def reach(least: float) -> float:
        counts = np.arange(n + 1)
        ratios = [
            np.where(z, counts / (n * float(p)), (n - counts) / (n * (1.0 - float(p))))
            for p, z in zip(coins, target, strict=True)
        ]
        masses = [binom.pmf(counts, n, float(p)) for p in coins]

        def bound(theta: float) -> float:
            moments = (
                float(np.log(np.sum(m * r ** (theta + 1.0)))) for m, r in zip(masses, ratios, strict=True)
            )
            return (math.fsum(moments) - math.log(least)) / theta

        return 1.0 + min(map(bound, np.geomspace(0.1, 100.0, 40)))

    return {"kind": "composition", "parts": parts, "neighbours": "remove"}, reach


def _claim(name: str, ends: Bounds) -> dict[str, Any] | None:
    """A number of an account as a claim, without its ends."""
    first, _, at = name.partition(" at ")
    if first not in (*_NAMED, "advantage"):
        return None
    value = float(at.removeprefix(_NAMED[first] + " ")) if at else 0.0
    stated = {"stated": [end.hex() for end in map(float, ends)]} if math.isfinite(ends[1]) else {}
    return {"quantity": first.lower(), "at": value.hex(), "low": "0/1", "high": None, **stated}


def _parts(curve: AbstractTradeOff, copies: int = 1, turned: bool = False) -> list[dict[str, Any]]:
    """The parts of a composition as the checker reads them."""
    if isinstance(curve, InverseTradeOff):
        return _parts(curve.inner, copies, not turned)
    if isinstance(curve, ComposedTradeOff):
        turned ^= curve.direction == "inverse"
        parts = zip(curve.curves, curve.copies, strict=True)
        return [part for inner, n in parts for part in _parts(inner, copies * n, turned)]
    if isinstance(curve, ApproxDPTradeOff):
        return [{"dp": [_written(curve.at_epsilon), _written(curve.at_delta)], "copies": copies}]
    inner, rate = (curve.inner, curve.sampling_rate) if isinstance(curve, MixtureTradeOff) else (curve, 1.0)
    out = [(0.0, Fraction(1))]
    if isinstance(inner, GaussianMixtureTradeOff) and rate == 1.0:
        sides = [
            [(shift, Fraction(weight)) for shift, weight in inner.parts(inside=inside)]
            for inside in (True, False)
        ]
        inside, out = (
            [(shift, weight / sum(w for _, w in side)) for shift, weight in side] for side in sides
        )
    elif isinstance(inner, (GaussianTradeOff, LaplaceTradeOff)):
        shares = {0.0: 1 - Fraction(rate), inner.mu: Fraction(rate)} if inner.mu else {0.0: Fraction(1)}
        inside = [(shift, weight) for shift, weight in shares.items() if weight]
    else:
        raise ValueError(
            f"question holds {kind_of(curve)}, which has no certificate; see mipsim.certify for those that do"
        )
    if turned:
        inside, out = ([(-shift, weight) for shift, weight in side] for side in (out, inside))
    noise = "laplace" if isinstance(inner, LaplaceTradeOff) else "gaussian"
    worlds = {"in": inside, "out": out}
    return [
        {
            "noise": noise,
            **{name: [[_written(s), _written(w)] for s, w in side] for name, side in worlds.items()},
            "copies": copies,
        }
    ]


def _written(value: float | Fraction) -> str:
    """A rational number in full."""
    return "{}/{}".format(*Fraction(value).as_integer_ratio())


def _prove(certificate: dict[str, Any], width: float, grids: Grids | None) -> None:
    """Have the checker compute the ends, on finer and finer grids; and compare them with what is stated."""
    from mipsim import check

    claims, fits, fineness, best = certificate["claims"], False, 1.0, (math.inf, [], None)
    while True:
        if grids is not None:
            certificate["grid"], fits = grids(fineness)
        try:
            ends = check.computed(certificate)
        except check.Undecided as why:
            raise ValueError(f"question has no certificate that the checker decides: {why}") from None
        wide = max(
            (float((high - low) / high) for low, high in ends if high.is_finite() and high > _LEAST),
            default=0.0,
        )
        last, best = best, min(best, (wide, ends, certificate.get("grid")), key=lambda known: known[0])
        if wide <= width or not fits or best is last:
            break
        fineness *= min(max(2.0, math.sqrt(1.5 * wide / width)), 8.0)
    wide, ends, grid = best
    if wide > 0.9 and certificate["question"]["kind"] == "weighted":
        raise ValueError(
            "question is a sum of so few terms, or of terms so alike, that the checker knows nothing of it"
        )
    if grid is not None:
        certificate["grid"] = grid
    for claim, (low, high) in zip(claims, ends, strict=True):
        claim["low"] = _outward(_exactly(low), -1)
        if high.is_finite() and certificate["question"]["kind"] in ("composition", "weighted"):
            claim["high"] = _outward(_exactly(high), 1)
    if not all(map(check.proves, ends, claims)):
        raise ArithmeticError(
            "the checker and mipsim contradict each other; please report this question as a bug"
        )


def _exactly(end: Any) -> Fraction:
    """A number of Arb without a radius."""
    mantissa, exponent = map(int, end.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _outward(end: Fraction, sign: int) -> str:
    return float(end * (1 + sign * (1 if end > 0 else -1) * Fraction(_SLACK))).hex()


def _grids(
    claims: list[dict[str, Any]], copies: int, width: float, reach: Callable[[float], float]
) -> Grids | None:
    """Grids for a composition, None for a single part; `reach` is a loss that is larger with hardly more than a probability."""
    if copies == 1:
        return None
    values = [float.fromhex(end) for claim in claims for end in (claim["at"], *claim.get("stated", ()))]
    least = width * 1e-3 * min(max(value, _LEAST) for value in values if 0.0 < value < 1.0)
    grids = 1 + int(math.log2(copies)) // 2
    tail = 2.0 ** math.floor(math.log2(least / copies) - 3.0)

    def grid(fineness: float) -> tuple[dict[str, Any], bool]:
        step = math.sqrt(width / copies) / 2.0 / fineness
        window = math.ceil(reach(least) / (step * 2 ** (grids - 1)))
        made = {
            "step": step.hex(),
            "window": [-window, window],
            "parts": 2,
            "grids": grids,
            "tail": tail.hex(),
        }
        return made, 4 * (window << (grids - 1)) <= _MOST_PLACES

    return grid
