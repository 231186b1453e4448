"""Thresholds and tilts of a run, fixed before any game by the saddlepoint approximation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from mipsim.rare.tilted_score import IN, OUT, AbstractTiltedScore, Cumulant

_SPAN = (
    1.5  # standard deviations of thresholds that share a tilt: the outer ones lose a quarter of the counts
)
_PLAIN = 0.75  # standard deviations from the mean: a tilt aimed within them is left out
_FARTHEST = 12.0  # no tilt is aimed farther than this many standard deviations from the mean
_MOST_STEPS = 400  # of a walk whose steps grow by a twentieth: exp(20) times the first in all


Stop = Callable[[float, float], bool]
"""(K'(theta), r*) -> whether the walk has gone far enough."""


@dataclass(frozen=True)
class Tilt:
    """A tilted law with its share of the games."""

    world: int  # OUT or IN
    theta: float  # the tilt; 0 plays the game as it is
    cumulant: Cumulant  # K, K' and K'' at theta
    thresholds: tuple[int, ...]  # indices of the thresholds whose rate this tilt estimates
    upper: bool  # whether it counts {S > t} (else {S <= t})
    games: int  # games played
    stream: int  # number of its random stream


@dataclass(frozen=True)
class TiltPath:
    """theta, K'(theta) and the signed root w of the deviance along the tilted laws of a world, all increasing."""

    theta: np.ndarray
    mean: np.ndarray
    root: np.ndarray
    corrected: np.ndarray

    @classmethod
    def of(cls, law: AbstractTiltedScore, world: int, low: Stop | None, high: Stop) -> TiltPath:
        """Walk from theta = 0 in both directions until `low` and `high` say so, or the law has no more tail."""
        low_end, high_end = law.reach(world)
        start = law.cumulant(0.0, world)
        if not start.variance > 0:
            raise ValueError("attack gives a score without variance, so that nothing is rare")
        step = 0.5 / math.sqrt(start.variance)
        up = _walk(law, world, step, high_end, high)
        down = _walk(law, world, -step, low_end, low)[::-1] if low is not None else []
        points = np.array([*down, (0.0, start.mean, 0.0, np.nan), *up])
        return cls(*points.T)

    def theta_at_root(self, root: float) -> float:
        """The theta with w(theta) = root."""
        return float(np.interp(root, self.root, self.theta))

    def root_at(self, score: float) -> float:
        """The root w of the tilt whose mean is the score."""
        return float(np.interp(score, self.mean, self.root))

    def score_above(self, alpha: float) -> float:
        """The t with P(S > t) about alpha, by r* = w + log(u / w) / w = Phi^-1(1 - alpha)."""
        up = self.theta > 0
        rank, wanted = self.corrected[up], -float(ndtri(alpha))
        if not rank.max() >= wanted:
            raise ValueError(
                f"false_positive_rates holds {alpha:g}; no threshold of this score has so small a rate (the least that it "
                "can be tilted to is larger)"
            )
        order = np.argsort(rank)
        return float(np.interp(wanted, rank[order], self.mean[up][order]))


Point = tuple[float, float, float, float]


def _walk(law: AbstractTiltedScore, world: int, step: float, end: float, stop: Stop) -> list[Point]:
    points: list[Point] = []
    for i in range(1, _MOST_STEPS if end else 0):
        # Steps grow by a twentieth; near a finite end they shrink geometrically and never pass it.
        theta = (
            10.0 * step * math.expm1(i / 20.0)
            if math.isinf(end)
            else -end * math.expm1(-i * step / (2 * end))
        )
        k = law.cumulant(theta, world)
        deviance = 2.0 * (theta * k.mean - k.value)
        if not (math.isfinite(deviance) and k.variance > 0):
            break
        w, u = math.copysign(math.sqrt(max(deviance, 1e-300)), step), theta * math.sqrt(k.variance)
        if points and abs(k.mean - points[-1][1]) <= 1e-12 * abs(k.mean):
            break
        points.append((theta, k.mean, w, w + math.log(u / w) / w))
        if stop(k.mean, points[-1][3]) or abs(w) > _FARTHEST or (abs(u) < 1e-2 and abs(w) > 0.5):
            break
    return points


@dataclass(frozen=True)
class Plan:
    """Thresholds in units of S, increasing, and the tilts that estimate the rates of both worlds there."""

    thresholds: np.ndarray
    tilts: tuple[Tilt, ...]


def plan(law: AbstractTiltedScore, rates: np.ndarray, games: int) -> Plan:
    """Place a threshold for every false-positive rate and choose the tilts.
    `rates`: distinct false-positive rates in (0, 1/4]; `games`: games in each world, shared evenly by the tilts of the
    world.
    """
    reach = -float(ndtri(rates.min()))
    out = TiltPath.of(law, OUT, None, lambda _, rank: rank > reach)
    t = np.unique([_off_lattice(law, out.score_above(a)) for a in rates])
    tilts = _tilts(law, OUT, out, t, games, first_stream=2)
    if law.plain_inside:
        everything = tuple(range(t.size))
        tilts.append(Tilt(IN, 0.0, law.cumulant(0.0, IN), everything, False, games, 2 + len(tilts)))
    else:
        inside = TiltPath.of(law, IN, lambda mean, _: mean < t[0], lambda mean, _: mean > t[-1])
        tilts += _tilts(law, IN, inside, t, games, first_stream=2 + len(tilts))
    return Plan(t, tuple(tilts))


def _off_lattice(law: AbstractTiltedScore, t: float) -> float:
    """Move a threshold to the middle between two atoms, so that rounding cannot carry a score across it."""
    if law.lattice is None:
        return t
    start, step = law.lattice
    return start + step * (math.floor((t - start) / step) + 0.5)


def _tilts(
    law: AbstractTiltedScore, world: int, curve: TiltPath, t: np.ndarray, games: int, first_stream: int
) -> list[Tilt]:
    roots = np.array([curve.root_at(score) for score in t])
    groups: list[tuple[float, list[int]]] = []
    left = list(range(t.size))[::-1]  # the roots rise with the thresholds: the farthest first
    while left:
        near = [k for k in left if roots[left[0]] - roots[k] <= _SPAN]
        middle = 0.5 * (roots[near[0]] + roots[near[-1]])
        groups.append((0.0 if abs(middle) <= _PLAIN else curve.theta_at_root(middle), near[::-1]))
        left = left[len(near) :]
    groups.sort(key=lambda group: group[0])
    share, rest = divmod(games, len(groups))
    tilts = []
    for i, (theta, members) in enumerate(groups):
        upper, cumulant = theta > 0 or (theta == 0 and world == OUT), law.cumulant(theta, world)
        tilts.append(
            Tilt(world, theta, cumulant, tuple(members), upper, share + (i < rest), first_stream + i)
        )
    return tilts
