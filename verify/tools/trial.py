"""A claim that a public tool documents, and its judge: simulations with known answers, or an enclosure of the true number."""

from __future__ import annotations

import importlib.metadata
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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

Case = Callable[[np.random.Generator], tuple[float, float, float]]
"""A use of a tool: (what it returns, lower end of what is true, upper end)."""


@dataclass(frozen=True)
class Trial:
    """A documented claim of a tool: of a bound that may be wrong in 5% of its uses, or of a number that may never be."""

    name: str  # short; also the name of its program, with underscores
    call: str
    claim: str  # the words of the documentation, verbatim
    place: str  # where they stand
    # name -> a use of the tool, whose truth is known; enclosed where there is a single run
    cases: Mapping[str, Case]
    side: Literal["lower", "upper"]  # a lower bound must not be above the truth, an upper bound not below
    tool: str = ""
    # its distribution, with the versions that are judged, as "riskcal==1.5.*"; "" for code of our own
    package: str = ""
    runs: int = 1  # independent uses in each case; 1: the number may never be wrong
    restricted_by: str = ""  # words that restrict the claim, with their place, and what else is fair to know
    repaired: str = ""  # what a later version does; "" if none was looked at
    # computed anew in this project, from the public source: it cannot be installed here
    by_formula: bool = False
    promises: bool = True  # False: an estimate promises nothing; it is counted, and no verdict is given

    @property
    def planted(self) -> bool:
        """Whether it is a control: a bound that is known to hold, or a wrong bound."""
        return self.tool == "control"


@dataclass(frozen=True)
class Outcome:
    """What a case of a trial showed."""

    case: str
    runs: int
    wrong: int  # how often the bound was on the wrong side of the truth
    rate: tuple[float, float]  # the interval of the rate of wrong bounds, simultaneous over the register
    returned: float  # the median of what the tool returned
    truth: float  # what is true; the end that favours the tool


@dataclass(frozen=True)
class Row:
    """The judgement of a trial."""

    trial: Trial
    version: str  # of the tool, as installed
    verdict: str  # "" where it was not judged, as a tool that is missing or an estimate
    skipped: str = ""  # why it was not judged
    outcomes: tuple[Outcome, ...] = ()  # of its cases
    # of a claim that is not refuted, how its loosest case compares: simulated, the ratio to the best confirmed bound of
    # the register in the same case; enclosed, the ratio to the truth. NaN where there is none
    tightness: float = math.nan


def installed(package: str) -> tuple[str, str]:
    """The version of a distribution, and why it cannot be judged ("" if it can).
    `package`: as `Trial` has it.

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


def use(trial: Trial, risk: float, seed: int) -> tuple[str, tuple[Outcome, ...]]:
    """Use a tool in each case, and count how often it is wrong: beyond both ends of what is true.
    `risk`: the probability that the interval of a case misses the rate; `seed`: with the names it decides the random numbers.
    Returns the verdict and what each case showed. Of many runs: REFUTED if an interval lies above `ALPHA`, CONFIRMED if all lie
    below `ALPHA` + `TOLERANCE`. Of a single run: REFUTED if it is wrong, CONFIRMED if it is on the right side of both ends, of the far
    end to `ENDS`.

    >>> def says(number, runs): return Trial("x", "", "", "", {"1": lambda rng: (number(rng), 1.0, 2.0)}, "lower", runs=runs)
    >>> use(says(lambda rng: 3.0 * (rng.random() < 0.03), 2000), 1e-4, 0)[0], use(says(lambda _: 3.0, 20), 1e-4, 0)[0]
    ('CONFIRMED', 'REFUTED')
    >>> [use(says(lambda _: number, 1), 1e-4, 0)[0] for number in (1.0, 1.5, 2.5)]
    ['CONFIRMED', 'INCONCLUSIVE', 'REFUTED']
    """
    outcomes, sure = [], True
    for case, single in trial.cases.items():
        rng = np.random.default_rng([seed, zlib.crc32(f"{trial.name}/{case}".encode())])
        uses = [single(rng) for _ in range(trial.runs)]
        mild, far = (2, 1) if trial.side == "lower" else (1, 2)
        count = sum(wrong(item[0], item[mild], trial.side) for item in uses)
        rate = float(count), float(count)
        if trial.runs == 1:
            sure = sure and not wrong(uses[0][0], uses[0][far], trial.side, ENDS)
        else:
            low, high = clopper_pearson([count], trial.runs, risk)
            rate = float(low[0]), float(high[0])
            sure = sure and rate[1] <= ALPHA + TOLERANCE
        stated, truth = (float(np.median([item[place] for item in uses])) for place in (0, mild))
        outcomes.append(Outcome(case, trial.runs, count, rate, stated, truth))
    refuted = any(item.rate[0] > ALPHA for item in outcomes)
    verdict = Verdict.REFUTED if refuted else Verdict.CONFIRMED if sure else Verdict.INCONCLUSIVE
    return str(verdict), tuple(outcomes)


def judge(trials: Sequence[Trial], seed: int = 0, say: Callable[[Row], None] = lambda row: None) -> list[Row]:
    """Judge trials, those whose packages are here.
    `trials`: the register or a part of it; all simulated cases of it share `RISK`; `seed`: of the random numbers; `say`:
    called with each row as it is done, before `tightness` is known.

    >>> (row,) = judge([Trial("pi", "", "", "", {"pi": lambda _: (3.2, math.pi, math.pi)}, "upper")])
    >>> row.verdict, round(row.tightness, 4)
    ('CONFIRMED', 1.0186)
    """
    risk = RISK / max(1, sum(len(trial.cases) for trial in trials if trial.runs > 1))
    rows: list[Row] = []
    for trial in trials:
        version, missing = installed(trial.package)
        verdict, outcomes = ("", ()) if missing else use(trial, risk, seed)
        rows.append(Row(trial, version, verdict if trial.promises else "", missing, outcomes))
        say(rows[-1])
    return [_with_tightness(row, rows) for row in rows]


def _with_tightness(row: Row, rows: Sequence[Row]) -> Row:
    """The row with its tightness: of simulations against the largest median of a confirmed row in the same case."""
    ratios = []
    for item in row.outcomes:
        best = item.truth
        if row.trial.runs > 1:
            valid = [single for other in rows if other.verdict == "CONFIRMED" for single in other.outcomes]
            best = max((single.returned for single in valid if single.case == item.case), default=0.0)
        if best > 0.0:
            ratios.append(item.returned / best)
    if not ratios or row.verdict == "REFUTED":
        return row
    return replace(row, tightness=min(ratios) if row.trial.side == "lower" else max(ratios))
