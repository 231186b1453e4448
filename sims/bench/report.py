"""The timings as a table and as JSON."""

import itertools
import json
import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from sims.bench.contest import Timing
from sims.process import between


def print_report(timings: Sequence[Timing]) -> None:
    """Print a block for each contest: rates, the ratio to the baseline with its range over the repeats, the device."""
    for title, group in itertools.groupby(timings, lambda t: t.name.split(": ")[0]):
        block = list(group)
        names = [t.name.split(": ", 1)[1] for t in block]
        print(f"{title}   (ratio to {block[0].baseline})")
        for name, t in zip(names, block, strict=True):
            low, high = t.spread
            print(
                f"  {name:<{max(map(len, names))}}  {_number(t.games_per_second):>16} {t.unit}/s"
                f"  {t.ratio:>10,.2f}x  ({low:,.2f} to {high:,.2f})  {t.device}"
            )


def as_table(timings: Sequence[Timing]) -> str:
    """The timings as a table of a page: the time of each way, and how much faster it is than the baseline of its contest."""
    rows = []
    for t in timings:
        title, way = t.name.split(": ", 1)
        (low, high), alone = t.spread, way == t.baseline
        ratio = "1" if alone else f"{t.ratio:.2g}x ({low:.2g}x to {high:.2g}x)"
        rows.append(f"| {title} | {way} | {1.0 / t.games_per_second:.2g} s | {ratio} |\n")
    return "| what | by | each | against the first |\n|---|---|---|---|\n" + "".join(rows)


def into_page(page: str, name: str, text: str) -> None:
    """Put a text between the marks of a page, in place of what is there."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    Path(page).write_text(between(Path(page).read_text(), start, f"\n\n{text}\n", end))


def as_json(timings: Sequence[Timing]) -> str:
    """The timings as a JSON list, an object each, and the peak memory of the process as the last.

    That has the same keys, null where it has no such thing, and `bytes`.
    """
    rows = [asdict(t) for t in timings]
    nothing = dict.fromkeys(field.name for field in fields(Timing))
    memory = nothing | {"name": "peak memory", "unit": "bytes", "bytes": peak_memory()}
    return json.dumps([*rows, memory], indent=1) + "\n"


def peak_memory() -> int:
    """The most memory this process has held, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _number(value: float) -> str:
    return f"{value:,.1f}" if value >= 10.0 else f"{value:.3g}"
