"""`python -m sims`: list, run, merge and time the studies."""

from __future__ import annotations

if __name__ == "__main__":
    from mipsim._signals import begin

    begin()  # before JAX is imported, which takes seconds

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mipsim._command_line import PLACE, VERSION, Number, Whole, examples, run, say
from mipsim._printed import shown
from mipsim._signals import ended, ending_on_signals
from mipsim._words import no_such, printable
from mipsim.audits.claims import FORMS
from sims.process import listing, show

if TYPE_CHECKING:
    from mipsim import AbstractTradeOff, Histogram
    from sims.study import Study

SHOWN_RATES = (1e-4, 1e-3, 0.01, 0.1, 0.5)
"""FPRs at which a run ends with an interval of the FNR."""
MOST_DIGITS = 40
"""Of the two numbers of a shard."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status: 0, 1 where a disk is full, 2 for bad arguments, 130 on Ctrl-C.

    Signals end the process itself: with 130, 143 on SIGTERM, 129 on SIGHUP.
    """
    return run(sims, arguments, "python -m sims")


def _studies() -> list[str]:
    from sims.studies import STUDIES

    width = max(map(len, STUDIES))
    return [f"{study.name:<{width}}  {study.description}" for study in STUDIES.values()]


@click.group(
    no_args_is_help=False,
    epilog=examples(
        "python -m sims list",
        "python -m sims run azize_fig2_easy --games 1e6 --out results/sims",
        "python -m sims bench --quick",
    ),
)
@listing(_studies, "list the studies, as `list` does")
@VERSION
def sims() -> None:
    """Named studies of membership-inference games."""


@sims.command("list", epilog=examples("python -m sims list"))
def list_studies() -> None:
    """List the studies."""
    show(_studies())


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and len(text) < MOST_DIGITS and int(index) < int(count)):
        raise click.BadParameter(
            f"{printable(repr(text), MOST_DIGITS)} is no shard; it must be i/k with whole numbers 0 <= i < k"
        )
    return int(index), int(count)


@sims.command(
    "run",
    epilog=examples(
        "python -m sims run azize_fig2_easy",
        "python -m sims run azize_fig2_easy --games 1e6 --seed 1 --out results/sims",
        "python -m sims run azize_fig2_easy --until mu=1.2 --games 1e8",
        "python -m sims run azize_fig2_easy --shard 0/4 --out shards",
        "python -m sims run azize_fig2_easy --executor slurm --shards-in-flight 16 --out results/sims",
    ),
)
@click.argument("study", metavar="STUDY")
@listing(_studies, "list the studies, and play none")
@click.option("--games", type=Whole(1), help="games per world (default: the standard scale's)")
@click.option("--seed", type=Whole(0), help="seed of the games (default: the study's)")
@click.option("--out", type=PLACE, metavar="DIR", help="store counts here, and resume from here")
@click.option(
    "--until",
    metavar="CLAIM",
    help=f"stop as soon as this claim is confirmed or refuted: theorem, the study's own, or {FORMS}",
)
@click.option("--chunk", type=Whole(1), help="games per call (default: about half a second)")
@click.option("--devices", type=Whole(1), help="how many local devices to use (default: all)")
@click.option(
    "--shard",
    type=_shard,
    metavar="i/k",
    help="play only shard i = 0, ..., k - 1 of the games, to be merged",
)
@click.option(
    "--executor",
    metavar="KIND",
    help="spread the games over workers: dask://HOST:PORT, slurm, mpi or processes",
)
@click.option(
    "--executor-timeout",
    type=Whole(1),
    default=60,
    metavar="SECONDS",
    help="how long to wait for Dask's scheduler (default: 60)",
)
@click.option(
    "--shards-in-flight",
    type=Whole(1),
    metavar="k",
    help="how many shards workers have at once (default: what the executor says)",
)
def run_study(
    study: str,
    games: int | None,
    seed: int | None,
    out: str | None,
    until: str | None,
    shard: tuple[int, int] | None,
    executor: str | None,
    executor_timeout: int,
    shards_in_flight: int | None,
    **how: Any,
) -> None:
    """Play a study, going on from what is stored.

    STUDY is a name that `python -m sims list` prints.
    """
    if shard is not None:
        out = out or "."  # a shard is stored in any case

    def interrupted() -> str:
        if not out:
            return "interrupted"
        retained = any(file.name.startswith(f"{study}-") for file in Path(out).glob("*.npz"))
        return f"interrupted; {f'finished chunks are stored in {printable(out)}' if retained else 'nothing is stored yet'}"

    with ending_on_signals(interrupted):
        from sims.runner import run, shard_path, store_path
        from sims.studies import STUDIES

        if study not in STUDIES:
            raise ValueError(no_such("STUDY", study, STUDIES, "a name that `python -m sims list` prints"))
        chosen = STUDIES[study]
        games = chosen.games["standard"] if games is None else games
        seed = chosen.seed if seed is None else seed
        claim = None if until is None else _claimed(until, chosen)
        how |= {"progress": True, "shard": shard, "until": claim}
        if executor is None:
            histogram = run(chosen, games, seed, out, **how)
        else:
            from sims.executors import executor_for

            if executor == "slurm" and how["chunk"] is None:
                # A job waits in a queue, whose time says nothing.
                how["chunk"] = -(-games // (shards_in_flight or 16))
            logs = Path(out or ".") / "slurm-logs"
            with executor_for(executor, executor_timeout, logs) as workers:
                histogram = run(chosen, games, seed, out, executor=workers, workers=shards_in_flight, **how)
        fidelity = f"{histogram.manifest['fidelity']} fidelity ({histogram.manifest['sampler']})"
        say(f"{study}: {histogram.games:,} games per world, seed {seed}, {fidelity}")
        if shard is None:
            _print_curve(histogram, chosen, claim)
        if out is not None:
            path = (
                store_path(chosen, seed, out)
                if shard is None
                else shard_path(chosen, seed, out, range(games), shard)
            )
            say(f"stored in {printable(path, 200)}")


def _claimed(text: str, study: Study) -> AbstractTradeOff:
    """What `--until` names."""
    if text == "theorem":
        if study.claim is None:
            raise ValueError(
                f"--until is theorem, but no theorem's curve is stored with {study.name}; name a claim, such as mu=1"
            )
        return study.claim(*study.build())
    from mipsim.audits.claims import RatePromise, read_claim

    claim = read_claim(text)
    if isinstance(claim, RatePromise):
        raise ValueError(f"--until is {printable(text, 40)}; it must be a claim about the whole curve")
    return claim


def _print_curve(histogram: Histogram, study: Study, claim: AbstractTradeOff | None = None) -> None:
    curve = histogram.tradeoff()
    for fpr in SHOWN_RATES:
        low, high = (float(end) for end in curve.band(fpr))
        if high - low < 1.0:  # of rates too rare for so few games nothing is known
            print(f"  at FPR {fpr:<6g}  the FNR is in {shown((low, high))}")
    print(curve)
    if claim is None and study.claim is None:
        print("no theorem's curve is stored with this study")
    else:
        print(curve.compare(_claimed("theorem", study) if claim is None else claim))


@sims.command(epilog=examples("python -m sims merge shards/*.npz --out sum.npz"))
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--out", type=PLACE, required=True, metavar="FILE", help="where to store the sum")
@click.option("--force", is_flag=True, help="replace another result that is there")
def merge(files: tuple[str, ...], out: str, force: bool) -> None:
    """Add the shards of a run.

    FILE is what `run --shard i/k` wrote, for every i.
    """
    from sims.merge import merge as merged

    total = merged(files, out, force)
    say(f"{total.games:,} games per world, stored in {printable(out)}")


@sims.command(
    epilog=examples("python -m sims bench --quick", "python -m sims bench scaling --figure scaling.svg")
)
@click.argument(
    "what", type=click.Choice(["speed", "start", "hunt", "scaling", "accounting"]), default="speed"
)
@click.option("--json", "file", type=PLACE, metavar="FILE", help="also write the timings to this file")
@click.option("--figure", type=PLACE, metavar="FILE", help="draw `scaling` into this .png, .svg or .pdf")
@click.option(
    "--page",
    type=PLACE,
    metavar="FILE",
    help="put the questions of `accounting` into this page, between its marks",
)
@click.option("--quick", is_flag=True, help="fewer games and repeats")
def bench(what: str, file: str | None, figure: str | None, page: str | None, quick: bool) -> None:
    """Time the engine and the exact laws against other ways.

    speed, the default, times the games. start measures how soon a new process answers, hunt how often searchers find planted defects, and
    scaling time and memory against n, d, games and devices. accounting compares composed curves and calibrated noise with dp-accounting and riskcal, and answers forty questions of users.
    """
    if figure is not None and what != "scaling":
        raise ValueError(f"--figure is given with {what}; it is plotted by `bench scaling` alone")
    if page is not None and (what != "accounting" or quick):
        raise ValueError(
            "--page is given without the whole of accounting; its questions are answered by `bench accounting` alone"
        )
    if file is not None and what == "start":
        raise ValueError("--json is given with start; its seconds are printed alone")
    if what == "start":
        from sims.bench.start import run_start

        run_start(quick)
    elif what == "scaling":
        from sims.bench.scaling import run_scaling

        run_scaling(quick, file, figure)
    elif what == "hunt":
        from sims.hunt_bench import run_hunt_bench

        run_hunt_bench(quick, file)
    elif what == "accounting":
        from sims.bench.command import run_accounting

        run_accounting(quick, file, page)
    else:
        from sims.bench.command import run_bench

        run_bench(quick, file)


@sims.command(
    epilog=examples(
        "python -m sims accelerator --out results/gpu",
        "python -m sims accelerator --out dry --dry-run --minutes 2",
    )
)
@click.option("--out", type=PLACE, required=True, metavar="DIR", help="where accelerator.jsonl goes")
@click.option("--minutes", type=Number(0, 1e4, min_open=True), default=8.0, help="time limit (default: 8)")
@click.option("--dry-run", is_flag=True, help="a short run on the CPU")
def accelerator(out: str, minutes: float, dry_run: bool) -> None:
    """Check every sampler on a GPU or TPU, and measure its speed."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the marked tests share the device
    if dry_run:
        os.environ["JAX_PLATFORMS"] = "cpu"
    from sims.accelerator import measure_accelerator

    measure_accelerator(Path(out), minutes, dry_run)


if __name__ == "__main__":
    sys.exit(ended(main()))
