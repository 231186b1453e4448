"""Forty questions about accounting of users, from public places, answered by mipsim and by dp-accounting: the table of docs/speed.md."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple, TypeVar

import mipsim as mi
from mipsim.tradeoff import AbstractTradeOff
from sims.bench.report import into_page

T = TypeVar("T")
Part = tuple[str, float, float, int]
"""("gaussian" or "laplace", noise, sampling rate, how often)."""
MARK = "questions"
GRIDS = 1e-2, 1e-3, 1e-4, 1e-5
WIDTH = 1e-4  # of epsilon, or relative of delta: to which mipsim's bounds are brought together
LONG = 10**7  # steps for which dp-accounting does not end within minutes
LONGEST = 20.0  # processor seconds: a grid that is ten times as fine is not tried after a tenth of that


class Question(NamedTuple):
    """A training, and a number of it."""

    source: str  # where it is from: an issue, a paper; what is not theirs is a neighbour of their question
    parts: Sequence[Part]
    number: str  # "epsilon" or "delta"
    at: float  # the delta, or the epsilon

    @property
    def words(self) -> str:
        parts = ", then ".join(
            f"{count:,} x {'Laplace ' if kind == 'laplace' else ''}noise {noise:g}"
            + (f", rate {rate:.4g}" if rate < 1.0 else "")
            for kind, noise, rate, count in self.parts
        )
        return f"{parts}: {self.number}({self.at:g})"


def _steps(noise: float, rate: float, count: int) -> list[Part]:
    return [("gaussian", noise, rate, count)]


def _laplace(noise: float, count: int, rate: float = 1.0) -> list[Part]:
    return [("laplace", noise, rate, count)]


_SMALL = "microsoft/prv_accountant issue 17"
_LARGE = "microsoft/prv_accountant issue 42"
_EPSILONS = "meta-pytorch/opacus issue 604"
_FULL = "meta-pytorch/opacus issue 566"
_SINGLE = "tensorflow/privacy issue 166"
_ROOT = "tensorflow/privacy issue 186"
_BATCH = "google-deepmind/jax_privacy pull request 287"
_CLIENTS = "google-research/federated issue 25"
_MNIST = "Bu, Dong, Long, Su (2020), figure 4"
_FINE = "lxuechen/private-transformers issue 15"
_LONG = "NVIDIA-NeMo/Safe-Synthesizer pull request 351"
_QUERIES = "opendp/smartnoise-sdk issue 498"
_MIXED = "OpenMined/PipelineDP issue 35"
_PHASES = "microsoft/prv_accountant pull request 15"
_MNIST_RATE = 256 / 60_000

QUESTIONS = (
    Question(_SMALL, _steps(4.0, 0.00033, 10_000), "epsilon", 1.13e-18),
    Question(_SMALL, _steps(4.0, 0.00033, 10_000), "epsilon", 1.1e-18),
    Question(_SMALL, _steps(4.0, 0.00038, 10_000), "epsilon", 1.13e-18),
    Question(_SMALL, _steps(4.0, 0.00033, 10_000), "epsilon", 1e-10),
    Question(_LARGE, _steps(1.0, 0.2, 10), "epsilon", 1e-5),
    Question(_LARGE, _steps(1.0, 0.2, 500), "epsilon", 1e-5),
    Question(_EPSILONS, _steps(0.5, 0.01, 1_000), "epsilon", 1e-5),
    Question(_EPSILONS, _steps(0.3, 0.01, 1_000), "epsilon", 1e-5),
    Question(_EPSILONS, _steps(0.5, 0.01, 1_000), "delta", 10.0),
    Question(_FULL, _steps(24.0, 1.0, 60), "epsilon", 1e-5),
    Question(_FULL, _steps(2.4, 1.0, 60), "epsilon", 1e-5),
    Question(_SINGLE, _steps(1.0, 105 / 100_000, 1), "epsilon", 1e-3),
    Question(_SINGLE, _steps(1.0, 105 / 100_000, 1), "epsilon", 1e-6),
    Question(_ROOT, _steps(1.1, _MNIST_RATE, 235 * 15), "epsilon", 1e-5),
    Question(_ROOT, _steps(1.1, _MNIST_RATE, 235 * 60), "epsilon", 1e-5),
    Question(_ROOT, _steps(1.1, _MNIST_RATE, 235 * 240), "epsilon", 1e-5),
    Question(_BATCH, _steps(1.0, 0.01, 100), "epsilon", 1e-5),
    Question(_BATCH, _steps(1.0, 0.08, 100), "epsilon", 1e-5),
    Question(_CLIENTS, _steps(0.5, 2 / 3_000, 1_000), "epsilon", 1e-4),
    Question(_CLIENTS, _steps(1.0, 50 / 3_000, 1_000), "epsilon", 1e-4),
    Question(_MNIST, _steps(1.3, _MNIST_RATE, 235 * 20), "epsilon", 1e-5),
    Question(_MNIST, _steps(0.7, _MNIST_RATE, 235 * 70), "epsilon", 1e-5),
    Question(_MNIST, _steps(0.7, _MNIST_RATE, 235 * 70), "delta", 1.0),
    Question(_FINE, _steps(8.0, 0.015, 200), "epsilon", 1e-5),
    Question(_FINE, _steps(20.0, 0.015, 200), "epsilon", 1e-6),
    Question(_LONG, _steps(0.1, 0.01, 1_000), "epsilon", 1e-5),
    Question(_LONG, _steps(0.05, 0.1, 100), "epsilon", 1e-5),
    Question(_LONG, _steps(30.0, 0.001, 10**6), "epsilon", 1e-6),
    Question(_LONG, _steps(1.0, 1e-4, 10**7), "epsilon", 1e-6),
    Question(_LONG, _steps(10.0, 1e-4, 10**8), "epsilon", 1e-6),
    Question(_LONG, _steps(10.0, 1e-5, 10**9), "epsilon", 1e-6),
    Question(_QUERIES, _laplace(10.0, 100), "epsilon", 1e-6),
    Question(_QUERIES, _laplace(1.0, 10), "epsilon", 1e-6),
    Question(_QUERIES, _laplace(100.0, 10_000), "epsilon", 1e-9),
    Question(_QUERIES, _laplace(1.0, 100, 0.1), "epsilon", 1e-5),
    Question(_MIXED, [*_laplace(10.0, 20), *_steps(5.0, 1.0, 10)], "epsilon", 1e-6),
    Question(_MIXED, [*_laplace(2.0, 3), *_laplace(5.0, 7)], "epsilon", 1e-6),
    Question(_PHASES, [*_steps(1.0, 0.01, 500), *_steps(1.5, 0.02, 500)], "epsilon", 1e-5),
    Question(_PHASES, [*_steps(1.0, 0.01, 10), *_steps(1.5, 0.02, 10)], "epsilon", 1e-5),
    Question(_PHASES, [*_steps(0.8, 0.005, 2_000), *_steps(1.2, 0.02, 2_000), *_steps(2.0, 0.05, 500)], "epsilon", 1e-6),
)  # fmt: skip


def ours(question: Question) -> tuple[float, float]:
    """Bounds of mipsim; a record added or removed."""
    curves: list[AbstractTradeOff] = []
    for kind, noise, rate, count in question.parts:
        if kind == "gaussian":
            curves.append(mi.dpsgd(noise, rate, count))
        else:
            step: AbstractTradeOff = mi.LaplaceTradeOff(1.0 / noise)
            curves.append(mi.compose(step.subsampled(rate) if rate < 1.0 else step, copies=count))
    curve = mi.compose(*curves) if len(curves) > 1 else curves[0]
    if isinstance(curve, mi.ComposedTradeOff):
        curve = curve.at_accuracy(WIDTH, WIDTH)
    low, high = (
        curve.epsilon_bounds(question.at) if question.number == "epsilon" else curve.delta_bounds(question.at)
    )
    return float(low), float(high)


def theirs(question: Question, interval: float) -> float:
    """dp-accounting's upper bound, with losses on a grid."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    make = {"gaussian": pld.from_gaussian_mechanism, "laplace": pld.from_laplace_mechanism}
    whole = None
    for kind, noise, rate, count in question.parts:
        step = make[kind](noise, sampling_prob=rate, value_discretization_interval=interval).self_compose(
            count
        )
        whole = step if whole is None else whole.compose(step)
    assert whole is not None
    if question.number == "epsilon":
        return float(whole.get_epsilon_for_delta(question.at))
    return float(whole.get_delta_for_epsilon(question.at))


class Answer(NamedTuple):
    """Both answers, and their processor seconds; none of dp-accounting where it has none as near."""

    question: Question
    low: float
    high: float
    seconds: float
    upper: float
    upper_seconds: float

    @property
    def row(self) -> str:
        width = ".6g"
        bounds = (
            f"{self.low:{width}}"
            if f"{self.low:{width}}" == f"{self.high:{width}}"
            else f"{self.low:{width}} to {self.high:{width}}"
        )
        other = "none as near" if math.isnan(self.upper_seconds) else f"{self.upper_seconds:.2g}"
        upper = f"{self.upper:{width}}" if math.isfinite(self.upper) else "-"
        if math.isnan(self.upper):
            other = "not run"
        return f"| {self.question.words} | {bounds} | {self.seconds:.2g} | {upper} | {other} | {self.question.source} |"


def answered(question: Question, alone: bool = False) -> Answer:
    """Bounds of mipsim, and dp-accounting's by the coarsest grid of those tried whose upper bound is as near (`alone`: none)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        (low, high), seconds = _timed(lambda: ours(question))
    upper, upper_seconds = math.nan if alone else math.inf, math.nan
    enough = WIDTH * (max(1.0, low / 10.0) if question.number == "epsilon" else low)
    if not alone:
        for interval in GRIDS:
            try:
                value, took = _timed(lambda at=interval: theirs(question, at))
            except Exception:  # whatever it ends in: its table has no answer
                break
            upper = min(upper, value)
            if value <= low + max(enough, high - low):
                upper_seconds = took
                break
            if took > LONGEST / 10.0:  # the next grid is ten times as fine
                break
    return Answer(question, low, high, seconds, upper, upper_seconds)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    begun = time.process_time()
    return work(), time.process_time() - begun


def table(answers: Sequence[Answer]) -> str:
    """The page's table."""
    head = "| question | mipsim's bounds | seconds | dp-accounting's upper bound | seconds | public source |\n|---|---|---|---|---|---|\n"
    return head + "".join(f"{answer.row}\n" for answer in answers)


def run_questions(page: str | None = None) -> list[Answer]:
    """Answer all of them, and print the table, or put it into a page between its marks."""
    ours(QUESTIONS[4])  # imports
    alone = find_spec("dp_accounting") is None
    if not alone:
        theirs(QUESTIONS[4], GRIDS[0])
    answers = []
    for question in QUESTIONS:
        long = sum(count for *_, count in question.parts) >= LONG
        answers.append(answered(question, alone or long))
        print(answers[-1].row, flush=True)
    slow = [answer for answer in answers if answer.seconds >= 1.0]
    print(f"{len(answers) - len(slow)} of {len(answers)} answers within a second")
    if page is not None:
        into_page(page, MARK, table(answers))
    return answers
