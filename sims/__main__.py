"""`python -m sims`: list, run and time the studies."""

import argparse
import difflib
import sys
from collections.abc import Callable, Sequence

from mipsim._validation import whole

EXIT_BAD, EXIT_INTERRUPTED = 2, 130


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m sims", description="Named studies of membership-inference games."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="{list,run,bench}")
    commands.add_parser("list", help="list the studies")
    play = commands.add_parser("run", help="play a study, going on from what is stored")
    play.add_argument("study", metavar="STUDY", help="a name that `list` prints")
    play.add_argument(
        "--games", type=_at_least("--games", 1), help="games per world (default: the standard scale's)"
    )
    play.add_argument("--seed", type=_at_least("--seed", 0), help="seed of the games (default: the study's)")
    play.add_argument("--out", default=None, metavar="DIR", help="store counts here, and resume from here")
    play.add_argument(
        "--chunk", type=_at_least("--chunk", 1), help="games per call (default: about half a second)"
    )
    timing = commands.add_parser("bench", help="time the reference game against other ways to play it")
    timing.add_argument("--json", default=None, metavar="FILE", help="also write the timings to this file")
    timing.add_argument("--quick", action="store_true", help="fewer games and repeats")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status: 0, 2 for bad arguments, 130 on Ctrl-C."""
    options = parser().parse_args(arguments)
    try:
        return {"list": _list, "run": _run, "bench": _bench}[options.command](options)
    except KeyboardInterrupt:
        where = f"; finished chunks are kept in {options.out}" if getattr(options, "out", None) else ""
        print(f"interrupted{where}", file=sys.stderr)
        return EXIT_INTERRUPTED
    except (ValueError, OSError) as error:
        print(f"error: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return EXIT_BAD


def _list(_: argparse.Namespace) -> int:
    from sims.studies import STUDIES

    width = max(map(len, STUDIES))
    for study in STUDIES.values():
        print(f"{study.name:<{width}}  {study.description}")
    return 0


def _run(options: argparse.Namespace) -> int:
    from sims.runner import run, store_path
    from sims.studies import STUDIES

    if options.study not in STUDIES:
        close = difflib.get_close_matches(options.study, STUDIES, n=3, cutoff=0.4)
        hint = f"close names: {', '.join(close)}" if close else "`python -m sims list` prints the names"
        raise ValueError(f"study {options.study!r} is unknown; {hint}")
    study = STUDIES[options.study]
    games = study.games["standard"] if options.games is None else options.games
    seed = study.seed if options.seed is None else options.seed
    histogram = run(study, games, seed, options.out, progress=True, chunk=options.chunk)
    fidelity = f"{histogram.manifest['fidelity']} fidelity ({histogram.manifest['sampler']})"
    print(f"{study.name}: {histogram.games:,} games per world, seed {seed}, {fidelity}")
    curve = histogram.tradeoff()
    pairs = zip(curve.alpha[::-8], curve.beta[::-8], strict=True)
    # A discrete score leaves several thresholds with the same counts; keys of a dict are distinct, in order.
    for line in dict.fromkeys(f"  alpha {alpha:.6f}  beta {beta:.6f}" for alpha, beta in pairs):
        print(line)
    if options.out is not None:
        print(f"stored in {store_path(study, seed, options.out)}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    from sims.bench import bench, report, whole_play

    timings = bench(options.quick)
    report(timings, whole_play(20_000 if options.quick else 1_000_000), options.json)
    return 0


def _at_least(name: str, least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            return whole(name, float(text) if "e" in text.lower() else int(text), least)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number >= {least}") from None

    return parse


if __name__ == "__main__":
    sys.exit(main())
