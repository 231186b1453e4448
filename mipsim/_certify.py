"""Certificates of numbers, which `mipsim check` accepts or rejects; see docs/certificates.md."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from mipsim._extras import optional
from mipsim._files import replace_file
from mipsim._printed import Bounds
from mipsim._validation import file_path, number
from mipsim._words import kind_of
from mipsim.tradeoff.account import DELTAS, EPSILONS, FPRS, Account, bounds_of, wanted_of
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.compose import ComposedTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.gaussian_mixture import GaussianMixtureTradeOff
from mipsim.tradeoff.inverse import InverseTradeOff
from mipsim.tradeoff.laplace import LaplaceTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff

WIDTH = 1e-3
_SLACK = (
    1e-10  # relative: claims are wider than what the checker computed, which may run on other versions of Arb
)
_MOST_PLACES = 1 << 16
_BITS = 128
_LEAST = 1e-12  # numbers below it may have wider ends
_NAMED = {"epsilon": "delta", "delta": "epsilon", "TPR": "FPR"}


def certify(
    question: AbstractTradeOff | Account,
    path: str | os.PathLike[str],
    *,
    delta: float | Iterable[float] = DELTAS,
    epsilon: float | Iterable[float] = EPSILONS,
    fpr: float | Iterable[float] = FPRS,
    width: float = WIDTH,
) -> Path:
    """Write a certificate of numbers: `mipsim check FILE`, which shares no code with the rest of mipsim, accepts it, or rejects it.

    The certificate holds the question, ends of each number that ball arithmetic proves, and the ends that mipsim computes, which may be
    narrower. Both kinds of ends are compared here: if they contradict each other, one of the two programs is wrong.

    Args:
        question: an `Account`, whose numbers are certified; or a curve: Gaussian and Laplace shifts, Poisson samples and mixtures of
            Gaussians, (epsilon, delta)-DP, their inverses and compositions, in a single direction or as the worse of two.
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
    if isinstance(question, Account):
        curve, numbers = question.curve, question.numbers
        if curve is None:
            raise ValueError(
                "question is an account of several trainings at once, which has no certificate; give phases"
            )
    elif isinstance(question, AbstractTradeOff):
        curve, numbers = question, bounds_of(question, wanted_of(delta, epsilon, fpr))
    else:
        raise ValueError(f"question is {kind_of(question)}; it must be an Account or a trade-off curve")
    way = curve._one_way()
    stated = {
        "kind": "composition",
        "parts": _parts(way or curve),
        "neighbours": "add_or_remove" if way else "remove",
    }
    claims = [claim for name, ends in numbers.items() if (claim := _claim(name, ends))]
    certificate = {
        "certificate": "mipsim 1",
        "about": repr(curve),
        "question": stated,
        "bits": _BITS,
        "claims": claims,
    }
    _prove(certificate, curve, width)
    replace_file(target, json.dumps(certificate, indent=1) + "\n")
    return target


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


def _prove(certificate: dict[str, Any], curve: AbstractTradeOff, width: float) -> None:
    """Have the checker compute the ends, on finer and finer grids; and compare them with what is stated."""
    from mipsim import check

    copies = sum(part["copies"] for part in certificate["question"]["parts"])
    claims = certificate["claims"]
    needs_grid = copies > 1
    step, fits = math.sqrt(width / copies) / 2.0, True
    while True:
        if needs_grid:
            certificate["grid"], fits = _grid(certificate, curve, copies, step, width)
        ends = check.computed(certificate)
        wide = max(
            (float((high - low) / high) for low, high in ends if high.is_finite() and high > _LEAST),
            default=0.0,
        )
        if not needs_grid or wide <= width or not fits:
            break
        step /= min(max(2.0, math.sqrt(1.5 * wide / width)), 8.0)
    for claim, (low, high) in zip(claims, ends, strict=True):
        claim["low"] = _outward(check.exactly(low), -1)
        claim["high"] = _outward(check.exactly(high), 1) if high.is_finite() else None
    if not all(map(check.proves, ends, claims)):
        raise ArithmeticError(
            "the checker and mipsim contradict each other; please report this question as a bug"
        )


def _outward(end: Fraction, sign: int) -> str:
    return float(end * (1 + sign * (1 if end > 0 else -1) * Fraction(_SLACK))).hex()


def _grid(
    certificate: dict[str, Any], curve: AbstractTradeOff, copies: int, step: float, width: float
) -> tuple[dict[str, Any], bool]:
    """A grid for a composition, and whether a finer grid fits."""
    least = (
        width
        * 1e-3
        * min(
            value
            for claim in certificate["claims"]
            for value in (float.fromhex(claim["at"]), *(map(float.fromhex, claim.get("stated", ()))))
            if 0.0 < value < 1.0
        )
    )
    ways = [way for way in (curve, curve.inverse()) if way is not None]
    reach = 1.0 + max(float(way.epsilon_bounds(max(least, 1e-300))[1]) for way in ways)
    grids = 1 + int(math.log2(copies)) // 2
    window = math.ceil(reach / (step * 2 ** (grids - 1)))
    tail = 2.0 ** math.floor(math.log2(least / copies) - 3.0)
    places = window << (grids - 1)
    return {
        "step": step.hex(),
        "window": [-window, window],
        "parts": 2,
        "grids": grids,
        "tail": tail.hex(),
    }, 4 * places <= _MOST_PLACES
