"""`python -m sims`: list, run, merge and time the studies."""

from __future__ import annotations

if __name__ == "__main__":
    from sims.process import begin

    begin()  # before JAX is imported, which takes seconds

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mipsim._close_names import close_names
from mipsim._extras import MissingPackageError
from mipsim._files import is_full
from mipsim._streams import CommandParser, complain, reader_gone, say
from mipsim._validation import whole
from mipsim._words import shown
from sims.process import answer, ending_on_signals

if TYPE_CHECKING:
    from mipsim import Histogram
    from sims.study import Study

EXIT_FULL, EXIT_BAD, EXIT_INTERRUPTED = 1, 2, 130
SHOWN_RATES = (1e-4, 1e-3, 0.01, 0.1, 0.5)
"""FPRs at which a run ends with an interval of the FNR."""


class _Listing(argparse.Action):
    """Ends the command with the list of the studies, as --help ends it."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **more)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser.exit(_list())


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = CommandParser(prog="python -m sims", description="Named studies of membership-inference games.")
    top.add_argument("--list", action=_Listing, help="list the studies, as `list` does")
    commands = top.add_subparsers(dest="command", required=True, metavar="{list,run,merge,bench,accelerator}")
    commands.add_parser("list", help="list the studies")
    play = commands.add_parser("run", help="play a study, going on from what is stored")
    play.add_argument("study", metavar="STUDY", help="a name that `list` prints")
    play.add_argument("--list", action=_Listing, help="list the studies, and play none")
    play.add_argument(
        "--games", type=_at_least("--games", 1), help="games per world (default: the standard scale's)"
    )
    play.add_argument("--seed", type=_at_least("--seed", 0), help="seed of the games (default: the study's)")
    play.add_argument(
        "--out", type=_path, default=None, metavar="DIR", help="store counts here, and resume from here"
    )
    play.add_argument(
        "--chunk", type=_at_least("--chunk", 1), help="games per call (default: about half a second)"
    )
    play.add_argument(
        "--devices", type=_at_least("--devices", 1), help="how many local devices to use (default: all)"
    )
    play.add_argument(
        "--shard",
        type=_shard,
        metavar="i/k",
        help="play only shard i = 0, ..., k - 1 of the games, to be merged",
    )
    play.add_argument(
        "--executor",
        metavar="KIND",
        help="spread the games over workers: dask://HOST:PORT, slurm, mpi or processes",
    )
    play.add_argument(
        "--executor-timeout",
        type=_at_least("--executor-timeout", 1),
        default=60,
        metavar="SECONDS",
        help="how long to wait for Dask's scheduler (default: 60)",
    )
    play.add_argument(
        "--shards-in-flight",
        type=_at_least("--shards-in-flight", 1),
        metavar="k",
        help="how many shards workers have at once (default: what the executor says)",
    )
    merged = commands.add_parser("merge", help="add the shards of a run")
    merged.add_argument("files", nargs="+", metavar="FILE", help="what `run --shard i/k` wrote, for every i")
    merged.add_argument("--out", type=_path, required=True, metavar="FILE", help="where to store the sum")
    merged.add_argument("--force", action="store_true", help="replace another result that is there")
    timing = commands.add_parser("bench", help="time the engine and the exact laws against other ways")
    timing.add_argument(
        "what",
        nargs="?",
        choices=["speed", "hunt", "scaling", "accounting"],
        default="speed",
        help="speed (the default), who finds planted defects, time and memory against n, d, games and devices, or "
        "composed curves and calibrated noise against dp-accounting and riskcal",
    )
    timing.add_argument("--json", default=None, metavar="FILE", help="also write the timings to this file")
    timing.add_argument(
        "--figure", default=None, metavar="FILE", help="draw `scaling` into this .png, .svg or .pdf"
    )
    timing.add_argument("--quick", action="store_true", help="fewer games and repeats")
    device = commands.add_parser(
        "accelerator", help="check every sampler on a GPU or TPU, and measure its speed"
    )
    device.add_argument(
        "--out", type=_path, required=True, metavar="DIR", help="where accelerator.jsonl goes"
    )
    device.add_argument("--minutes", type=float, default=8.0, help="time limit (default: 8)")
    device.add_argument("--dry-run", action="store_true", help="a short run on the CPU")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status: 0, 1 where a disk is full, 2 for bad arguments, 130 on Ctrl-C.

    Signals end the process itself: with 130, 143 on SIGTERM, 129 on SIGHUP.
    """
    options = parser().parse_args(arguments)
    if options.command == "run" and options.shard is not None and options.out is None:
        options.out = "."  # a shard is stored in any case
    try:
        with ending_on_signals(lambda: _interrupted(options)):
            commands = {
                "list": _list,
                "run": _run,
                "merge": _merge,
                "bench": _bench,
                "accelerator": _accelerator,
            }
            status = commands[options.command](options)
            sys.stdout.flush()  # while a reader that has gone can be told from a full disk
            return status
    except KeyboardInterrupt:
        complain(_interrupted(options))
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return reader_gone()
    except (ValueError, OSError, MissingPackageError) as error:
        file = getattr(error, "filename", None)
        where = f"{shown(file)}: " if file else ""
        complain(f"error: {where}{getattr(error, 'strerror', None) or error}")
        return EXIT_FULL if is_full(error) else EXIT_BAD


def _interrupted(options: argparse.Namespace) -> str:
    if options.command != "run" or not options.out:
        return "interrupted"
    kept = any(file.name.startswith(f"{options.study}-") for file in Path(options.out).glob("*.npz"))
    return f"interrupted; {f'finished chunks are kept in {shown(options.out)}' if kept else 'nothing is stored yet'}"


def _list(_: argparse.Namespace | None = None) -> int:
    from sims.studies import STUDIES

    width = max(map(len, STUDIES))
    lines = [f"{study.name:<{width}}  {study.description}" for study in STUDIES.values()]
    return answer(lines, "python -m sims")


def _run(options: argparse.Namespace) -> int:
    from sims.runner import run, shard_path, store_path
    from sims.studies import STUDIES

    if options.study not in STUDIES:
        close = close_names(options.study, STUDIES, 5)
        hint = f"close names: {', '.join(close)}" if close else "`python -m sims list` prints the names"
        raise ValueError(f"study {shown(repr(options.study))} is unknown; {hint}")
    study = STUDIES[options.study]
    games = study.games["standard"] if options.games is None else options.games
    seed = study.seed if options.seed is None else options.seed
    alone = options.shard is not None
    settings = {"progress": True, "chunk": options.chunk, "devices": options.devices}
    if options.executor is not None:
        histogram = _run_on_executor(study, games, seed, options, settings)
    else:
        histogram = run(study, games, seed, options.out, shard=options.shard, **settings)
    fidelity = f"{histogram.manifest['fidelity']} fidelity ({histogram.manifest['sampler']})"
    say(f"{study.name}: {histogram.games:,} games per world, seed {seed}, {fidelity}")
    if alone:
        say(f"stored in {shown(shard_path(study, seed, options.out, range(games), options.shard), 200)}")
        return 0
    _print_curve(histogram, study)
    if options.out is not None:
        say(f"stored in {shown(store_path(study, seed, options.out), 200)}")
    return 0


def _run_on_executor(
    study: Study, games: int, seed: int, options: argparse.Namespace, settings: dict[str, Any]
) -> Histogram:
    from sims.executors import executor_for
    from sims.runner import run

    if (
        options.executor == "slurm" and options.chunk is None
    ):  # a job waits in a queue, whose time says nothing
        settings = settings | {"chunk": -(-games // (options.shards_in_flight or 16))}
    logs = Path(options.out or ".") / "slurm-logs"
    with executor_for(options.executor, options.executor_timeout, logs) as executor:
        settings = settings | {"shard": options.shard, "workers": options.shards_in_flight}
        return run(study, games, seed, options.out, executor=executor, **settings)


def _print_curve(histogram: Histogram, study: Study) -> None:
    curve = histogram.tradeoff()
    for fpr in SHOWN_RATES:
        low, high = (float(end) for end in curve.band(fpr))
        if high - low < 1.0:  # of rates too rare for so few games nothing is known
            print(f"  at FPR {fpr:<6g}  the FNR is in [{low:.4g}, {high:.4g}]")
    print(curve)
    if study.claim is None:
        print("no theorem's curve is kept with this study")
    else:
        print(curve.compare(study.claim(*study.build())))


def _merge(options: argparse.Namespace) -> int:
    from sims.merge import merge

    total = merge(options.files, options.out, options.force)
    say(f"{total.games:,} games per world, stored in {shown(options.out)}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    if options.figure is not None and options.what != "scaling":
        raise ValueError(f"--figure is given with {options.what}; it is drawn by `bench scaling` alone")
    if options.what == "scaling":
        from sims.bench.scaling import run_scaling

        run_scaling(options.quick, options.json, options.figure)
        return 0
    if options.what == "hunt":
        from sims.hunt_bench import run_hunt_bench

        run_hunt_bench(options.quick, options.json)
        return 0
    if options.what == "accounting":
        from sims.bench.command import run_accounting

        run_accounting(options.quick, options.json)
        return 0
    from sims.bench import run_bench

    run_bench(options.quick, options.json)
    return 0


def _accelerator(options: argparse.Namespace) -> int:
    if not 0.0 < options.minutes < 1e4:
        raise ValueError(f"--minutes is {options.minutes:g}; it must be in (0, 10000)")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the marked tests share the device
    if options.dry_run:
        os.environ["JAX_PLATFORMS"] = "cpu"
    from sims.accelerator import measure_accelerator

    measure_accelerator(Path(options.out), options.minutes, options.dry_run)
    return 0


def _shard(text: str) -> tuple[int, int]:
    index, slash, count = text.partition("/")
    numbers = slash and index.isdecimal() and count.isdecimal() and len(text) < 40
    if not (numbers and int(index) < int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not i/k with whole numbers 0 <= i < k")
    return int(index), int(count)


def _at_least(name: str, least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            return whole(name, float(text) if "e" in text.lower() else int(text), least)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number >= {least}") from None

    return parse


def _path(text: str) -> str:
    if not text:  # a variable of a shell that is not set; else the folder that one is in would be meant
        raise argparse.ArgumentTypeError("'' names no file or folder")
    return text


if __name__ == "__main__":
    sys.exit(main())
