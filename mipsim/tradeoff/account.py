"""What DP-SGD leaks, in the numbers that people report, each between proven bounds; and two ways of sampling side by side."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mipsim._printed import Bounds, Printed, ceiling, enough, floor, shown
from mipsim._validation import choice, member, number, real_array, whole
from mipsim._verdict import Verdict
from mipsim._words import plural, quoted
from mipsim.tradeoff import divisors, events
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.calibration import FINE, worse_tpr
from mipsim.tradeoff.compose import ComposedTradeOff, compose
from mipsim.tradeoff.noise_multiplier import dpsgd, epochs_of
from mipsim.tradeoff.schemes import ALWAYS, NEIGHBOURS, NORMALISE, SCHEMES, shift
from mipsim.tradeoff.training import Training, is_training, read_training

DELTAS, EPSILONS, FPRS = (1e-5,), (1.0,), (0.1, 0.01, 0.001)
"""At which `account` tells epsilon, delta and TPR."""
Phase = tuple[float, float, int]
_PHASE = "noise_multiplier", "sampling_rate", "steps"
_CLOSED = 1e-14  # relative: rounding of a mu in closed form
_SEEN = ALWAYS.partition("; ")[2]


@dataclass(frozen=True, eq=False, repr=False)
class Account(Printed):
    """What DP-SGD leaks: epsilon at delta, delta at epsilon, mu, advantage, and TPR at FPR, each as (low, high).

    Attributes:
        phases: (noise multiplier, sampling rate, steps) of each, as of `mipsim.dpsgd`; none of an event.
        neighbours, group: as of `mipsim.dpsgd`.
        sampling: the same; of an event the name of its class.
        curve: of all phases; None of a configuration that allows several.
        claim: (epsilon, delta) that is judged, or None.
        read: what was read of a configuration, what follows from it, and what was left unread.
        numbers: name, such as "epsilon at delta 1e-05", to proven bounds. Of "add_or_remove" it is the worse direction at each number.
            "least mu of mu-GDP" is the least mu for which G_mu lies below the curve at every FPR; at the rarest, a step that is hardly
            ever sampled counts in full. Where a record is replaced in Poisson samples its ends are a factor of up to 2 apart.

    Examples:
        >>> import mipsim as mi
        >>> print(mi.account(2.0, steps=16))
        DP-SGD: noise 2, rate 1, 16 steps, poisson, add_or_remove
          epsilon at delta 1e-05  [9.997, 9.998]
          delta at epsilon 1      [0.5098, 0.5099]
          advantage               [0.6826, 0.6827]
          TPR at FPR 0.1          [0.7637, 0.7638]
          TPR at FPR 0.01         [0.372, 0.3721]
          TPR at FPR 0.001        [0.1378, 0.1379]
          least mu of mu-GDP      [2, 2]
          assumes                 in each step each record takes part by its own coin
          and                     a release is a sum of clipped contributions and Gaussian noise; all releases are seen, and later steps may use them
    """

    phases: tuple[Phase, ...]
    neighbours: str
    sampling: str
    group: int
    numbers: dict[str, Bounds]
    curve: AbstractTradeOff | None
    claim: tuple[float, float] | None = None
    read: str = ""

    @property
    def verdict(self) -> str:
        """Of the claim: "CONFIRMED", "REFUTED" for the worst records, or "INCONCLUSIVE"; "" where nothing is claimed."""
        if self.claim is None:
            return ""
        epsilon, delta = self.claim
        most = (
            self.numbers[f"epsilon at delta {_named(delta)}"],
            self.numbers[f"delta at epsilon {_named(epsilon)}"],
        )
        if any(ends[1] <= claimed for ends, claimed in zip(most, self.claim, strict=True)):
            return Verdict.CONFIRMED.value
        below = all(ends[0] <= claimed for ends, claimed in zip(most, self.claim, strict=True))
        return (Verdict.INCONCLUSIVE if below else Verdict.REFUTED).value

    @property
    def assumes(self) -> tuple[str, str]:
        """What the numbers assume: of the sampling or the event, and of every release."""
        if self.phases:
            return SCHEMES[self.sampling].assumes, ALWAYS
        return events.ASSUMES, _SEEN

    def compare(self, accounted: Account) -> AccountComparison:
        """Hold this account, of what is implemented, against that of what an accountant assumes.

        Args:
            accounted: with at least 1 number of the same name.

        Raises:
            ValueError: if it is no account, or has no number of the same name.

        Examples:
            >>> import mipsim as mi
            >>> how = dict(noise_multiplier=0.5, sampling_rate=0.01, steps=100)
            >>> result = mi.account(**how, sampling="shuffled").compare(mi.account(**how))
            >>> result.says[0]
            'the implemented mechanism leaks more: epsilon at delta 1e-05 >= 9.996 against <= 6.477'
        """
        member("accounted", accounted, Account, "an Account")
        if not self.numbers.keys() & accounted.numbers.keys():
            raise ValueError(
                "accounted has no number of the same name; give both the same delta, epsilon or fpr"
            )
        return AccountComparison(self, accounted)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; an infinite end is the text "inf"."""
        result = {
            "phases": [dict(zip(_PHASE, phase, strict=True)) for phase in self.phases],
            "neighbours": self.neighbours,
            "sampling": self.sampling,
            "group": self.group,
            "assumes": [*self.assumes],
            "numbers": {name: _plain(ends) for name, ends in self.numbers.items()},
        }
        if self.claim:
            result["claim"] = {"epsilon": self.claim[0], "delta": self.claim[1], "verdict": self.verdict}
            result["claim"] |= {"if": self._provided} if self._provided else {}
        return result | ({"read": self.read} if self.read else {})

    @property
    def _provided(self) -> str:
        """Under which condition the verdict stands, where a configuration has names that are left over."""
        return "what is not read changes nothing" if "not read: " in self.read else ""

    def _title(self) -> str:
        if not self.phases:
            return f"{self.sampling}: {self.neighbours}"
        phases = "; then ".join(
            f"noise {noise:.6g}, rate {rate:.6g}, {plural(steps, 'step')}"
            for noise, rate, steps in self.phases
        )
        group = f", {plural(self.group, 'record')} together" if self.group > 1 else ""
        return f"DP-SGD: {phases}, {self.sampling}, {self.neighbours}{group}"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [(name, shown(ends)) for name, ends in self.numbers.items()]
        if self.claim:
            epsilon, delta = map(_named, self.claim)
            provided = f", if {self._provided}" if self._provided else ""
            lines.append(("claim", f"epsilon {epsilon} at delta {delta}: {self.verdict}{provided}"))
        if self.read:
            lines.append(("read", self.read))
        return [*lines, ("assumes", self.assumes[0]), ("and", self.assumes[1])]


@dataclass(frozen=True, eq=False, repr=False)
class AccountComparison(Printed):
    """An account of what is implemented beside an account of what is assumed, and which differences are proven.

    Attributes:
        implemented, accounted: both accounts.

    Examples:
        >>> import mipsim as mi
        >>> result = mi.account(1.0, delta=1e-5).compare(mi.account(2.0, delta=1e-5))
        >>> result.leaks["epsilon at delta 1e-05"], result.leaks["least mu of mu-GDP"]
        ('more', 'more')
    """

    implemented: Account
    accounted: Account

    @property
    def leaks(self) -> dict[str, str]:
        """Name of a number to "more" or "less", as is proven of what is implemented, or "not decided" where both bounds overlap."""
        return {name: _relation(*pair) for name, pair in self._pairs().items()}

    @property
    def says(self) -> list[str]:
        """A sentence for each proven difference; a single sentence where there is none."""
        result = []
        for name, (own, other) in self._pairs().items():
            if (leaks := _relation(own, other)) == "more":
                digits = enough(own[0], other[1])
                ends = f"{name} >= {floor(own[0], digits)} against <= {ceiling(other[1], digits)}"
            elif leaks == "less":
                digits = enough(other[0], own[1])
                ends = f"{name} <= {ceiling(own[1], digits)} against >= {floor(other[0], digits)}"
            else:
                continue
            result.append(f"the implemented mechanism leaks {leaks}: {ends}")
        return result or ["no difference is proven: the bounds of each number overlap"]

    def to_dict(self) -> dict[str, Any]:
        """Both accounts, and what is proven, as plain data."""
        return {
            "implemented": self.implemented.to_dict(),
            "accounted": self.accounted.to_dict(),
            "leaks": self.leaks,
            "says": self.says,
        }

    def _pairs(self) -> dict[str, tuple[Bounds, Bounds]]:
        other = self.accounted.numbers
        return {name: (ends, other[name]) for name, ends in self.implemented.numbers.items() if name in other}

    def _title(self) -> str:
        return f"implemented: {self.implemented._title()}; accounted: {self.accounted._title()}"

    def _lines(self) -> list[tuple[str, str]]:
        lines = []
        for name, (own, other) in self._pairs().items():
            leaks = _relation(own, other)
            words = leaks if leaks == "not decided" else f"leaks {leaks}"
            lines.append((name, f"{shown(own)} against {shown(other)}, {words}"))
        (first, both), (second, other) = self.implemented.assumes, self.accounted.assumes
        return [
            *lines,
            ("says", self.says[0]),
            ("implemented", first),
            ("accounted", second),
            ("both", min(both, other, key=len)),  # the shorter is part of the other
        ]


def account(
    noise_multiplier: Any = None,
    sampling_rate: float | None = None,
    steps: int | None = None,
    *,
    phases: Iterable[Phase] | None = None,
    neighbours: str | None = None,
    sampling: str | None = None,
    group: int | None = None,
    delta: float | Iterable[float] = DELTAS,
    epsilon: float | Iterable[float] = EPSILONS,
    fpr: float | Iterable[float] = FPRS,
    claim: tuple[float, float] | None = None,
    normalise: str | None = None,
    data_size: int | None = None,
    dimension: int | None = None,
) -> Account:
    """Account for DP-SGD: each number that people report, between proven bounds.

    Args:
        noise_multiplier: the standard deviation of the noise over the clipping norm, > 0. In its place an event of dp_accounting, which
            says all but the neighbours, and of which nothing is imported; or the configuration of a training, a mapping or the path of
            a file of TOML, JSON or YAML, which says all but what is given as sampling, neighbours, group, normalise, data_size or claim. See `mipsim.tradeoff.training` for the names that are known.
        sampling_rate: the probability that a record takes part in a step, in [0, 1]; 1 / T where it takes part once in T steps; 1 if it is None.
        steps: all of them, from 1 to 10^9; 1 if it is None.
        phases: instead of these three, such a triple for each part of a training that changes them on its way.
        neighbours: "add_or_remove" (also if it is None, whatever the sampling), "remove", "add" or "replace".
        sampling: how a step samples records: "poisson" (also if it is None), or another row of `mipsim.tradeoff.schemes.SCHEMES`; a wrong
            name is answered with all.
        group: how many records are removed, added or replaced together; above 1 with "poisson" alone; 1 if it is None.
        delta: a value or several, in [0, 1], at which epsilon is reported.
        epsilon: a value or several, >= 0, at which delta is reported.
        fpr: a value or several, in [0, 1], at which the TPR is reported.
        claim: (epsilon, delta) that is judged: CONFIRMED, REFUTED, or INCONCLUSIVE where it lies between both ends.
        normalise: by what the code divides a noisy sum: "expected", a number that is the same for neighbours (or by nothing, also if it is
            None); "floor", the floor of the rate times the number of records; "realised", the number of records that came in the batch.
        data_size: the number of records, of the larger of both data sets, >= 2; of a configuration, or where the divisor depends on it.
        dimension: of a gradient, >= 1, for the sentence that refuses "floor" alone; 1000 if it is None.

    Raises:
        ValueError: if a configuration lacks something, an argument is outside its range, or no theorem covers these neighbours under this sampling, or this event.

    Source: that of `mipsim.dpsgd`, and of events that of `mipsim.tradeoff.events.curve_of_event`.

    Examples:
        >>> result = account(0.7, 0.5, 2, sampling="random_allocation", epsilon=[0.1, 1])
        >>> [f"{end:.3f}" for name in ("delta at epsilon 0.1", "delta at epsilon 1") for end in result.numbers[name]]
        ['0.405', '0.405', '0.190', '0.190']
        >>> two = account(phases=[(1.0, 0.01, 500), (1.5, 0.02, 500)])
        >>> [f"{end:.4f}" for end in two.numbers["epsilon at delta 1e-05"]]
        ['1.8975', '1.8975']
        >>> account(1.0, 0.3, 10, sampling="shuffled")
        Traceback (most recent call last):
        ...
        ValueError: sampling_rate is 0.3; with sampling 'shuffled' it must be 1 / T for epochs of T steps
    """
    wanted = wanted_of(delta, epsilon, fpr)
    claim = None if claim is None else _claimed(claim)
    divided: dict[str, Any] = {
        "normalise": None if normalise is None else choice("normalise", normalise, NORMALISE),
        "data_size": None if data_size is None else whole("data_size", data_size, 2, 10**15),
        "dimension": None if dimension is None else whole("dimension", dimension, 1, 10**12),
    }
    steps_of = {"sampling_rate": sampling_rate, "steps": steps}
    who: dict[str, Any] = {"neighbours": neighbours, "sampling": sampling, "group": group}
    if is_training(noise_multiplier):
        _refuse_beside(
            "a configuration as noise_multiplier, which says it",
            **steps_of,
            phases=phases,
        )
        dimension = divided.pop("dimension")
        training = read_training(noise_multiplier, **who, **divided)
        return _of_training(training, claim=claim, dimension=dimension, **wanted)
    if claim is not None:
        for name, value in zip(("epsilon", "delta"), claim, strict=True):
            wanted[name] = [*dict.fromkeys([*wanted[name], value])]
    neighbours = choice("neighbours", "add_or_remove" if neighbours is None else neighbours, NEIGHBOURS)
    both = neighbours == "add_or_remove"
    if events.is_event(noise_multiplier):
        _refuse_beside(
            "an event; with it give only neighbours, claim, delta, epsilon and fpr",
            **steps_of,
            phases=phases,
            sampling=sampling,
            group=group,
            **divided,
        )
        parts, sampling, read = [], type(noise_multiplier).__name__, ""
        first = events.curve_of_event(noise_multiplier, neighbours)
        first = first.inverse() if neighbours == "add" else first
    else:
        parts = _phases(noise_multiplier, phases, **steps_of)
        sampling, group = "poisson" if sampling is None else sampling, 1 if group is None else group
        who = {"sampling": sampling, "group": group}
        curves = [dpsgd(*part, neighbours="remove" if both else neighbours, **who) for part in parts]
        divided["normalise"] = divided["normalise"] or NORMALISE[0]
        curves, read = divisors.divided(curves, parts, neighbours=neighbours, **who, **divided)
        first = curves[0] if len(curves) == 1 else compose(*curves)
    in_epochs = bool(parts) and SCHEMES[sampling].epochs is not None
    if not in_epochs and isinstance(first, ComposedTradeOff):
        first = first.at_accuracy(FINE, FINE)
    curve = first.symmetrized() if both else first

    numbers = bounds_of(curve, wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of wide bounds: they are shown
        numbers["least mu of mu-GDP"] = (
            _mu_of_epochs(parts, neighbours, sampling) if in_epochs else first.least_mu_bounds()
        )
    known = tuple((float(noise), float(rate), int(count)) for noise, rate, count in parts)
    return Account(known, neighbours, sampling, int(group or 1), numbers, curve, claim, read)


def wanted_of(delta: Any, epsilon: Any, fpr: Any) -> dict[str, list[float]]:
    """At which values numbers are computed."""
    ends = {"delta": (delta, 1.0), "epsilon": (epsilon, math.inf), "fpr": (fpr, 1.0)}
    return {name: _several(name, *given) for name, given in ends.items()}


def bounds_of(curve: AbstractTradeOff, wanted: Mapping[str, Iterable[float]]) -> dict[str, Bounds]:
    """Numbers of a curve by their names; of the worse of two directions, the worse at each number."""
    one_way = curve._one_way()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of wide bounds: they are shown
        numbers = {f"epsilon at delta {_named(at)}": curve.epsilon_bounds(at) for at in wanted["delta"]}
        numbers |= {f"delta at epsilon {_named(at)}": curve.delta_bounds(at) for at in wanted["epsilon"]}
        numbers["advantage"] = curve.advantage_bounds()
        tpr = {at: worse_tpr(one_way or curve, at, one_way is not None) for at in wanted["fpr"]}
    return numbers | {f"TPR at FPR {_named(at)}": ends for at, ends in tpr.items()}


def _claimed(claim: object) -> tuple[float, float]:
    if not isinstance(claim, (tuple, list)) or len(claim) != 2:
        raise ValueError(f"claim is {quoted(claim)}; it must be (epsilon, delta)")
    return number("claim", claim[0], 0.0), number("claim", claim[1], 0.0, 1.0)


def _of_training(training: Training, **given: Any) -> Account:
    """The lower ends of the least, and the upper ends of the most, that a configuration allows."""
    if training.claim is not None:
        if given["claim"] is not None:
            raise ValueError(
                f"claim is {given['claim']} beside a configuration that has {training.claim}; give 1 of them"
            )
        given["claim"] = training.claim
    given |= {name: getattr(training, name) for name in ("neighbours", "sampling", "group", "normalise")}
    if divisors.depends_on_size(training.normalise, training.sampling, training.neighbours):
        given["data_size"] = training.data_size
    if training.delta is not None:
        given["delta"] = [*dict.fromkeys([*given["delta"], training.delta])]
    most = account(phases=training.most, **given)
    least = most if training.least == training.most else account(phases=training.least, **given)
    numbers = {name: (least.numbers[name][0], ends[1]) for name, ends in most.numbers.items()}
    curve = most.curve if least is most else None
    return replace(
        most, numbers=numbers, curve=curve, read="; ".join(filter(None, (training.read, most.read)))
    )


def _phases(
    noise: float | None, phases: Iterable[Phase] | None, sampling_rate: float | None, steps: int | None
) -> list[Phase]:
    if (noise is None) == (phases is None):
        raise ValueError(
            f"noise_multiplier and phases are {'both missing' if noise is None else 'both given'}; give exactly 1 of them; "
            "mipsim.find_noise_multiplier_for_epsilon_delta has the noise for an epsilon"
        )
    if noise is not None:
        return [(noise, 1.0 if sampling_rate is None else sampling_rate, 1 if steps is None else steps)]
    _refuse_beside("phases; each has its own", sampling_rate=sampling_rate, steps=steps)
    if not isinstance(phases, Iterable) or isinstance(phases, (str, bytes, Mapping, Set)):
        what, parts = f"is {quoted(phases)}", []
    else:
        parts = [tuple(part) if isinstance(part, (tuple, list, np.ndarray)) else (part,) for part in phases]
        wrong = [part for part in parts if len(part) != len(_PHASE)]
        what = f"holds {quoted(wrong[0])}" if wrong else "" if parts else "is empty"
    if what:
        raise ValueError(
            f"phases {what}; it must hold (noise multiplier, sampling rate, steps) of each phase"
        )
    return parts  # pyright: ignore[reportReturnType]


def _refuse_beside(what: str, **others: object) -> None:
    """Raise ValueError where an argument is given beside what leaves no room for it."""
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{name} is {quoted(value)} beside {what}")


def _mu_of_epochs(phases: list[Phase], neighbours: str, sampling: str) -> Bounds:
    """The mu of a single Gaussian release an epoch, of T steps each.

    It is enough, since an attacker who knows the steps of the target sees no more than that. Less is not: at a single step of each of E
    epochs the target takes part with probability T^-E > 0, so that the test of these has the TPR of the Gaussian releases times
    T^-E, which at rarer and rarer FPRs shifts no probit. Of shuffled records both worlds have this factor.
    """
    squares = [epochs_of(rate, steps, sampling)[1] / noise**2 for noise, rate, steps in phases]
    mu = math.sqrt(math.fsum(squares)) * shift(neighbours)
    return mu * (1.0 - _CLOSED), mu * (1.0 + _CLOSED)


def _several(name: str, given: float | Iterable[float], most: float) -> list[float]:
    """A value or several, each in [0, most]."""
    values: Any = [given]
    if isinstance(given, Iterable) and not isinstance(given, str) and getattr(given, "ndim", 1) > 0:
        if (array := real_array(name, given)).ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}; it must be a number or a vector of shape (d,)")
        values = array.tolist()
    return [number(name, value, 0.0, most) for value in values]


def _named(at: float) -> str:
    """A number in as many digits as distinguish it from all others: numbers of the same name are compared."""
    return short if float(short := f"{at:g}") == at else repr(at)


def _relation(own: Bounds, other: Bounds) -> str:
    return "more" if own[0] > other[1] else "less" if own[1] < other[0] else "not decided"


def _plain(ends: Bounds) -> dict[str, float | str]:
    return {
        name: end if math.isfinite(end) else "inf" for name, end in zip(("low", "high"), ends, strict=True)
    }
