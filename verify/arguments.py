"""The arguments of the command: read, checked, and turned into the claims to judge."""

import argparse
import difflib
import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mipsim.referee.reporting.wording import plural
from verify.claim import Claim
from verify.judge import regime_named

DEFAULT_OUT = Path("results/verify")


@dataclass(frozen=True)
class Request:
    """What the command was asked, checked.

    Attributes:
        claims: the claims to judge, in the register's order; with --regime, one claim with that regime alone.
        scale, confidence, seed: see `verify.report.record.Setting`.
        out: the report's folder, or None: with --regime or --json and no --out no report is written.
        listing: whether to list the claims only.
        json: file of the data alone, "-" for standard output, or None.
    """

    claims: tuple[Claim, ...]
    scale: str
    confidence: float
    seed: int
    out: Path | None
    listing: bool
    json: str | None = None


def select(patterns: Sequence[str], register: Mapping[str, Claim]) -> tuple[Claim, ...]:
    """Return the claims whose ids match any pattern, in the register's order; all if there is none.

    Args:
        patterns: full ids or globs such as "azize-thm-4*".
        register: the claims.

    Raises:
        ValueError: if a pattern matches nothing; it lists the close names.

    Examples:
        >>> select(["azize-*"], {})
        Traceback (most recent call last):
            ...
        ValueError: CLAIM is 'azize-*'; it must match a claim of the register (see --list)
    """
    chosen: set[str] = set()
    for pattern in patterns:
        matches = fnmatch.filter(register, pattern)
        if not matches:
            raise ValueError(
                _unknown("CLAIM", pattern, list(register), "a claim of the register (see --list)")
            )
        chosen.update(matches)
    return tuple(claim for name, claim in register.items() if not patterns or name in chosen)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    reader = argparse.ArgumentParser(
        prog="python -m verify",
        description="Judge the claims of the register by games and exact laws, and write a report.",
        epilog="Exit status: 0 all were judged, 1 a judge failed, 2 bad arguments, 130 interrupted.",
    )
    reader.add_argument(
        "claims", nargs="*", metavar="CLAIM", help='id or glob ("azize-thm-4*"); default: all'
    )
    reader.add_argument(
        "--scale",
        choices=("quick", "standard", "full"),
        default="standard",
        help="how many games are played (default: standard)",
    )
    reader.add_argument(
        "--confidence",
        default="0.999",
        metavar="C",
        help="family-wise over every regime of the whole register, in (0, 1) (default: 0.999)",
    )
    reader.add_argument("--seed", default="0", metavar="S", help="a whole number (default: 0)")
    reader.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"folder of verdicts.json and index.html (default: {DEFAULT_OUT})",
    )
    reader.add_argument(
        "--regime",
        metavar="NAME",
        help="judge one regime of one CLAIM again; writes a report only with --out",
    )
    reader.add_argument(
        "--json",
        metavar="FILE",
        help="write the data alone, as in verdicts.json, to FILE, or to standard output for -; a report only with --out",
    )
    reader.add_argument("--list", action="store_true", help="list the claims and judge nothing")
    reader.add_argument(
        "--suite",
        choices=("broken-mechanisms",),
        help="judge mechanisms with known violations instead, beside other tools' published figures",
    )
    return reader


def request_of(arguments: argparse.Namespace, register: Mapping[str, Claim]) -> Request:
    """Check what `parser` read.

    Raises:
        ValueError: one sentence that names the argument, its value and what is allowed.
    """
    confidence = _confidence(arguments.confidence)
    seed = checked_seed(arguments.seed)
    claims = select(arguments.claims, register)
    out = arguments.out
    if arguments.regime is not None:
        claims = (_one_regime(claims, arguments.regime, seed),)
    elif out is None and arguments.json is None:
        out = DEFAULT_OUT
    return Request(claims, arguments.scale, confidence, seed, out, arguments.list, arguments.json)


def _confidence(text: str) -> float:
    try:
        confidence = float(text)
    except ValueError:
        confidence = math.nan
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"--confidence is {text}; it must be a number in (0, 1)")
    return confidence


def checked_seed(text: str) -> int:
    """Return the whole number in [0, 2^64) that the text spells, or say that it spells none."""
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed < 2**64:
        raise ValueError(f"--seed is {text}; it must be a whole number in [0, 2^64)")
    return seed


def _one_regime(claims: Sequence[Claim], name: str, seed: int) -> Claim:
    if len(claims) != 1:
        raise ValueError(
            f"--regime is {name!r} for {plural(len(claims), 'claim')}; it must go with exactly one CLAIM"
        )
    claim = claims[0]
    chosen = regime_named(claim, name, seed)
    if chosen is None:
        names = [regime.name for regime in claim.regimes]
        raise ValueError(_unknown("--regime", name, names, f"a regime of {claim.id}"))
    # What was drawn stays a fixed point here: nothing else of the claim is judged.
    return replace(claim, regimes=(chosen,), sampled=None)


def _unknown(argument: str, value: str, names: Sequence[str], what: str) -> str:
    close = difflib.get_close_matches(value, names, n=5, cutoff=0.6)
    close += [name for name in names if value.lower() in name.lower() and name not in close][: 5 - len(close)]
    hint = f"; close names: {', '.join(close)}" if close else ""
    return f"{argument} is {value!r}; it must match {what}{hint}"
