"""All contests, timed, printed and written to a file."""

from pathlib import Path

from sims.bench.contest import Timing, measure
from sims.bench.first import first_answers, print_first
from sims.bench.laws import exact_curve, histogram, noncentral_cdf
from sims.bench.literal import OWN_MEANS
from sims.bench.other_games import clipped_step, gaussian_game, gradient_game, many_targets
from sims.bench.reference import cores_game, devices_game, random_target_game, reference_game, whole_play
from sims.bench.report import as_json, peak_memory, print_report

CONTESTS = (
    reference_game,
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


def run_bench(quick: bool = False, file: str | None = None) -> list[Timing]:
    """Time every contest, print the table, and write it as JSON if a file is named.

    Args:
        quick: fewer games and repeats.
        file: where the JSON goes; the folder must exist.

    Raises:
        OSError: if the file cannot be written; found out before any work.
    """
    if file is not None:
        with Path(file).open("a"):  # an unwritable place must show before any work
            pass
    timings: list[Timing] = first_answers(quick)
    print_first(timings)
    for contest in CONTESTS:
        timed = measure(contest(quick), repeats=3 if quick else 7)
        print_report(timed)
        timings += timed
    games = 20_000 if quick else 1_000_000
    print(
        f"mi.play, all included: {games:,} games of the reference game per world in {whole_play(games):.1f} s"
    )
    print(f"peak memory of all of this: {peak_memory() / 2**30:.2f} GiB")
    if file is not None:
        Path(file).write_text(as_json(timings))
    return timings
