"""A claim that a public tool documents, and its judge: simulations with known answers, or an enclosure of the true number."""

from __future__ import annotations

import importlib.metadata
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.referee import Verdict

ALPHA = 0.05
"""How often a bound may be wrong, in every simulated trial: the tools' usual default."""
TOLERANCE = 0.02
"""A rate is confirmed if its whole interval is at most `ALPHA` + this: of a rate that is `ALPHA` no number of runs shows more."""
RISK = 0.001
"""The probability that any interval of a rate of the register misses it; all simulated cases share it equally."""
ROUNDING = 1e-6
"""A number that is beyond the truth by this share of it (of 1 if it is smaller) is not called wrong: tools stop their searches there."""
ENDS = 1e-4
"""A number is confirmed if it is beyond the far end of the truth by at most this share: the ends lie some 1e-5 apart, the best tools less."""

Case = Callable[[np.random.Generator], tuple[float, float]]
"""A simulated use of a tool: (what it returns, what is true)."""


@dataclass(frozen=True)
class Simulated:
    """A bound that may be wrong in at most 5% of its uses."""

    cases: Mapping[str, Case]  # name -> a use of the tool, with a truth that is known exactly
    # "lower" for a bound that must not be above the truth, "upper" for a bound that must not be below
    side: Literal["lower", "upper"] = "lower"
    runs: int = 2000  # independent uses in each case


@dataclass(frozen=True)
class Enclosed:
    """A number that must not be on the wrong side of the truth, ever."""

    # name -> (what the tool returns, a function; the truth's lower and upper end, a function)
    cases: Mapping[str, tuple[Callable[[], float], Callable[[], tuple[float, float]]]]
    # "lower" for a bound that must not be above the truth, "upper" for a bound that must not be below
    side: Literal["lower", "upper"] = "upper"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A documented claim of a tool."""

    name: str  # short; also the name of its program, with underscores
    tool: str
    package: str  # its distribution, with the versions that are judged, such as "riskcal==1.5.*"; "" for code of our own
    call: str
    claim: str  # the words of the documentation, verbatim
    place: str  # where they stand
    evidence: Simulated | Enclosed  # what decides
    # words of the documentation that restrict the claim, with their place, and what else is fair to know
    restricted_by: str = ""
    repaired: str = ""  # what a later version does; "" if none was looked at
    # the tool's computation is written anew in this project, from its public source, because it cannot be installed here
    by_formula: bool = False
    planted: bool = False  # a control: a bound that is known to hold, or a wrong bound
    # whether the documentation promises what could be wrong; of an estimate it is counted, and no verdict is given
    promises: bool = True


@dataclass(frozen=True)
class Outcome:
    """What a case of a trial showed."""

    case: str  # its name
    runs: int  # how many; 1 where the truth is enclosed
    wrong: int  # how often the bound was on the wrong side of the truth
    # the interval of the rate of wrong bounds, simultaneous over the register; (0, 0) or (1, 1) where the truth is
    # enclosed and decides
    rate: tuple[float, float]
    returned: float  # the median of what the tool returned
    truth: float  # what is true; the end that favours the tool


@dataclass(frozen=True)
class Row:
    """The judgement of a trial."""

    trial: Trial
    version: str  # of the tool, as installed
    # REFUTED, CONFIRMED (in these cases) or INCONCLUSIVE; "" where it was not judged, as a tool that is missing or an
    # estimate
    verdict: str
    skipped: str = ""  # why it was not judged
    outcomes: tuple[Outcome, ...] = field(default=())  # of its cases
    # of a claim that is not refuted, how its loosest case compares: simulated, the ratio to the best confirmed bound of
    # the register in the same case; enclosed, the ratio to the truth. NaN where there is none
    tightness: float = math.nan


def installed(package: str) -> tuple[str, str]:
    """The version of a distribution, and why it cannot be judged ("" if it can).
    `package`: a name with the versions that are judged, such as "riskcal==1.5.*"; "" for code of our own.

    >>> installed("")
    ('', '')
    >>> installed("no-such-package==1.*")
    ('', 'no-such-package is not installed')
    >>> installed("numpy==0.1.*")[1].endswith("0.1.* is judged")
    True
    """
    if not package:
        return "", ""
    name, _, judged = package.partition("==")
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "", f"{name} is not installed"
    if not f"{version}.".startswith(judged.removesuffix("*")):
        return version, f"{name} {version} is installed; {judged} is judged"
    return version, ""


def wrong(stated: float, truth: float, side: str, slack: float = ROUNDING) -> bool:
    """Whether a bound is on the wrong side of the truth by more than `slack`, a share of it; NaN is wrong.
    >>> wrong(1.1, 1.0, "lower"), wrong(1.1, 1.0, "upper"), wrong(1.0, 1.0, "lower"), wrong(math.nan, 1.0, "lower")
    (True, False, False, True)
    """
    most = slack * max(1.0, abs(truth))
    return not (stated <= truth + most if side == "lower" else stated >= truth - most)


def simulate(name: str, evidence: Simulated, risk: float, seed: int) -> tuple[str, tuple[Outcome, ...]]:
    """Use the tool again and again, and count how often it is wrong.
    `name`: of the trial; with the case and the seed it decides the random numbers; `evidence`: the cases; `risk`: the
    probability that the interval of a case misses the rate; `seed`: of the random numbers. Returns the verdict and what
    each case showed: REFUTED if an interval lies above `ALPHA`, CONFIRMED if all lie below `ALPHA` + `TOLERANCE`.

    >>> honest = Simulated({"coin": lambda rng: (float(rng.random() < 0.03), 0.0)})
    >>> simulate("honest", honest, 1e-4, 0)[0], simulate("liar", Simulated({"sure": lambda rng: (1.0, 0.0)}), 1e-4, 0)[0]
    ('CONFIRMED', 'REFUTED')
    """
    outcomes = []
    for case, use in evidence.cases.items():
        rng = np.random.default_rng([seed, zlib.crc32(f"{name}/{case}".encode())])
        pairs = [use(rng) for _ in range(evidence.runs)]
        count = sum(wrong(stated, truth, evidence.side) for stated, truth in pairs)
        low, high = (float(end[0]) for end in clopper_pearson([count], evidence.runs, risk))
        stated, truth = (float(np.median(column)) for column in zip(*pairs, strict=True))
        outcomes.append(Outcome(case, evidence.runs, count, (low, high), stated, truth))
    if any(item.rate[0] > ALPHA for item in outcomes):
        verdict = Verdict.REFUTED
    elif all(item.rate[1] <= ALPHA + TOLERANCE for item in outcomes):
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.INCONCLUSIVE
    return str(verdict), tuple(outcomes)


def enclose(evidence: Enclosed) -> tuple[str, tuple[Outcome, ...]]:
    """Hold the tool's numbers against both ends of the truth.
    Returns the verdict and what each case showed: REFUTED if a number is on the wrong side of both ends, CONFIRMED if all
    are on the right side of both, the far one to `ENDS`.

    >>> enclose(Enclosed({"1": (lambda: 1.5, lambda: (1.0, 2.0))}))[0]
    'INCONCLUSIVE'
    """
    outcomes, sure = [], True
    for case, (tool, truth) in evidence.cases.items():
        stated, ends = tool(), truth()
        mild, strict = ends if evidence.side == "upper" else ends[::-1]
        is_wrong = wrong(stated, mild, evidence.side)
        sure = sure and not wrong(stated, strict, evidence.side, ENDS)
        outcomes.append(Outcome(case, 1, int(is_wrong), (float(is_wrong), float(is_wrong)), stated, mild))
    refuted = any(item.wrong for item in outcomes)
    verdict = Verdict.REFUTED if refuted else Verdict.CONFIRMED if sure else Verdict.INCONCLUSIVE
    return str(verdict), tuple(outcomes)


def judge(trials: Sequence[Trial], seed: int = 0, say: Callable[[Row], None] = lambda row: None) -> list[Row]:
    """Judge trials, those whose packages are here.
    `trials`: the register or a part of it; all simulated cases of it share `RISK`; `seed`: of the random numbers; `say`:
    called with each row as it is done, before `tightness` is known.

    >>> right = Enclosed({"pi": (lambda: 3.2, lambda: (math.pi, math.pi))})
    >>> (row,) = judge([Trial(name="pi", tool="us", package="", call="", claim="", place="", evidence=right)])
    >>> row.verdict, round(row.tightness, 4)
    ('CONFIRMED', 1.0186)
    """
    risk = RISK / max(
        1, sum(len(item.evidence.cases) for item in trials if isinstance(item.evidence, Simulated))
    )
    rows: list[Row] = []
    for trial in trials:
        version, missing = installed(trial.package)
        verdict, outcomes = "", ()
        if not missing:
            verdict, outcomes = (
                simulate(trial.name, trial.evidence, risk, seed)
                if isinstance(trial.evidence, Simulated)
                else enclose(trial.evidence)
            )
            verdict = verdict if trial.promises else ""
        rows.append(Row(trial, version, verdict, missing, outcomes))
        say(rows[-1])
    return [_with_tightness(row, rows) for row in rows]


def _with_tightness(row: Row, rows: Sequence[Row]) -> Row:
    """The row with its tightness: of simulations against the largest median of a confirmed row in the same case."""
    ratios, trial = [], row.trial
    for item in row.outcomes:
        best = item.truth
        if isinstance(trial.evidence, Simulated):
            valid = [single for other in rows if other.verdict == "CONFIRMED" for single in other.outcomes]
            best = max((single.returned for single in valid if single.case == item.case), default=0.0)
        if best > 0.0:
            ratios.append(item.returned / best)
    if not ratios or row.verdict == "REFUTED":
        return row
    return replace(row, tightness=min(ratios) if trial.evidence.side == "lower" else max(ratios))
