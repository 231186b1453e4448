"""All contests, timed, printed and written to a file."""

from collections.abc import Callable, Sequence
from pathlib import Path

from sims.bench.accounting import (
    composed_curve,
    epsilon_of_many_steps,
    noise_for_advantage,
    noise_for_operating_point,
    questions_at_equal_width,
)
from sims.bench.by_hand import kernel_by_hand
from sims.bench.contest import Contest, Timing, measure
from sims.bench.laws import exact_curve, histogram, noncentral_cdf
from sims.bench.literal import OWN_MEANS
from sims.bench.other_games import clipped_step, gaussian_game, gradient_game, many_targets
from sims.bench.questions import run_questions
from sims.bench.reference_game import cores_game, devices_game, random_target_game, reference_game, whole_play
from sims.bench.report import as_json, as_table, into_page, peak_memory, print_report
from sims.bench.start import run_start

CONTESTS = (
    reference_game,
    kernel_by_hand,
    cores_game,
    devices_game,
    random_target_game,
    gaussian_game,
    clipped_step,
    gradient_game,
    many_targets,
    *OWN_MEANS,
    exact_curve,
    noncentral_cdf,
    histogram,
)
ACCOUNTING = (
    composed_curve,
    *questions_at_equal_width(),
    epsilon_of_many_steps,
    noise_for_advantage,
    noise_for_operating_point,
)
MARK = "accounting"


def run_bench(quick: bool = False, file: str | None = None) -> list[Timing]:
    """Time every contest, print the table, and write it as JSON if a file is named.
    `quick`: fewer games and repeats; `file`: where the JSON goes; the folder must exist. Raises OSError if the file
    cannot be written; checked before any work.
    """
    _check(file)
    run_start(quick)
    timings = _timed(CONTESTS, quick, repeats=3 if quick else 7)
    timings += _timed(ACCOUNTING[:1] if quick else ACCOUNTING, quick, repeats=3)
    games = 20_000 if quick else 1_000_000
    print(
        f"mi.play, all included: {games:,} games of the reference game per world in {whole_play(games):.1f} s"
    )
    print(f"peak memory of all of this: {peak_memory() / 2**30:.2f} GiB")
    if file is not None:
        Path(file).write_text(as_json(timings))
    return timings


def run_accounting(quick: bool = False, file: str | None = None, page: str | None = None) -> list[Timing]:
    """Time composed curves and calibrated noise against dp-accounting and riskcal, where they are installed; and an exact law.

    The answers stand below the ratios, with their errors, so that no speed is bought with another answer.

    `quick`: the composed curves alone: a search of riskcal takes 20 s; `file`: where the JSON goes; the folder must
    exist; `page`: where the tables of ratios and of questions go, which are printed in any case. Raises OSError if the file cannot be written; checked before any work.
    """
    _check(file)
    timings = _timed(ACCOUNTING[:1] if quick else (*ACCOUNTING, exact_curve), quick, repeats=3)
    if page is not None:
        into_page(page, MARK, as_table(timings))
    if not quick:
        run_questions(page)
    if file is not None:
        Path(file).write_text(as_json(timings))
    return timings


def _check(file: str | None) -> None:
    if file is not None:
        with Path(file).open("a"):  # an unwritable place must show before any work
            pass


def _timed(contests: Sequence[Callable[[bool], Contest]], quick: bool, repeats: int) -> list[Timing]:
    timings: list[Timing] = []
    for make in contests:
        timed = measure(contest := make(quick), repeats)
        print_report(timed)
        for line in contest.says():
            print(f"    {line}")
        timings += timed
    return timings
