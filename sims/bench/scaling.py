"""`python -m sims bench scaling`: what time and memory cost, against records, coordinates, games and devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._extras import optional

BLOCK = 16384
"""Games are whole blocks of the engine's: a part of a block costs as much as all of it."""


@dataclass(frozen=True)
class Case:
    """A setting: n records of d coordinates, of Bernoulli data or Gaussian, games in each world, simulated devices."""

    sweep: str
    over: str
    fidelity: str = "sufficient"
    n: int = 1000
    d: int = 5000
    games: int = 4 * BLOCK
    devices: int = 1

    @property
    def x(self) -> int:
        """The value of what the sweep is over."""
        return getattr(self, self.over)


@dataclass(frozen=True)
class Cost:
    """What a case cost, the least of its repeats."""

    case: Case  # what was played
    seconds: float  # of the games alone
    setup: float  # seconds until the first block is there, compilation left out: tables, tracing, that block
    compiling: float  # seconds of lowering and compiling for a single device
    peak: int  # bytes, the most that the process held, Python, JAX and the compiler included


def cases(quick: bool) -> list[Case]:
    """All settings, the cheap ones first."""
    reference, projected = "reference game", "projected game"
    few = 2 * BLOCK if quick else 8 * BLOCK
    ns, ds = (
        ([100, 10_000], [500, 5000]) if quick else ([100, 1000, 10_000, 100_000], [500, 1500, 5000, 15_000])
    )
    devices = [1, 2] if quick else [1, 2, 4]
    games = [2, 8] if quick else [4, 16, 64, 611]  # of blocks: 611 are 10^7 games
    many = [10**6, 10**7] if quick else [10**7, 10**8, 10**9]
    return [
        *(Case(f"{reference}, n", "n", n=n, games=few) for n in ns),
        *(Case(f"{projected}, n", "n", "projected", n=n, games=many[0]) for n in (100, 10_000, 10**6)),
        *(Case(f"{reference}, d", "d", d=d, games=few) for d in ds),
        *(Case(f"{reference}, devices", "devices", games=few, devices=k) for k in devices),
        *(Case(f"{reference}, games", "games", games=k * BLOCK) for k in games),
        *(Case(f"{projected}, games", "games", "projected", games=g) for g in many),
    ]


def play_case(case: Case, repeats: int) -> Cost:
    """Play a case in this process, whose devices must be there already.
    `repeats`: how often; the fastest counts. What takes longer than 10 s is played once.
    """
    import time

    import jax

    import mipsim as mi
    from mipsim._precision import exact_scope
    from mipsim.engine.counting import Counter, on_device, play_range
    from mipsim.engine.devices import local_devices, threads_for
    from mipsim.engine.route import build_sampler
    from sims.bench.report import peak_memory

    nonnegligible: list[float] = []

    def hear(event: str, duration_secs: float, **_: Any) -> None:
        if event in (
            "/jax/core/compile/jaxpr_to_mlir_module_duration",
            "/jax/core/compile/backend_compile_duration",
        ):
            nonnegligible.append(duration_secs)

    jax.monitoring.register_event_duration_secs_listener(hear)
    rng = np.random.default_rng(0)
    data: mi.AbstractDistribution
    if case.fidelity == "projected":
        data, target = mi.Gaussian(np.zeros(case.d), np.ones(case.d)), rng.normal(size=case.d)
    else:
        data = mi.Bernoulli(rng.uniform(0.25, 0.75, case.d))
        target = data.easiest_target()
    begun = time.perf_counter()
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=case.n, target=target)
    attack = mi.CovarianceScore(data, n=case.n)
    devices = local_devices(case.devices)
    with exact_scope():
        sampler = on_device(build_sampler(game, attack, case.fidelity))
    count = Counter(sampler, [np.linspace(-20.0, 20.0, 1024)], 0, devices=devices)
    count(0, 1)
    first, compiling = time.perf_counter() - begun, sum(nonnegligible)
    for _ in play_range(count, 0, 4 * len(devices) * count.span, count.span, threads_for(devices)):
        pass  # the other devices compile their own
    seconds = []
    while len(seconds) < repeats and (not seconds or seconds[0] < 10.0):
        begun = time.perf_counter()
        for _ in play_range(count, 0, case.games, None, threads_for(devices)):
            pass
        seconds.append(time.perf_counter() - begun)
    return Cost(case, min(seconds), max(0.0, first - compiling), compiling, peak_memory())


def cost_of(case: Case, repeats: int) -> Cost:
    """Play a case in a process of its own, so that its devices are its own and its peak of memory too.
    Raises RuntimeError if the process fails.
    """
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={case.devices}"
    done = subprocess.run(
        [sys.executable, "-m", "sims.bench.scaling", json.dumps(asdict(case)), str(repeats)],
        env={**os.environ, "XLA_FLAGS": flags.strip()},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{case.sweep} = {case.x:,} ended with {done.returncode}: {done.stderr[-300:]}")
    result = json.loads(done.stdout)
    return Cost(case, **{name: result[name] for name in ("seconds", "setup", "compiling", "peak")})


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of the line of least squares through (log x, log y): 1 where y is proportional to x, 0 where it is constant.
    >>> round(slope([1, 10, 100], [3, 30, 300]), 9), round(slope([1, 10, 100], [3, 3, 3]), 9)
    (1.0, 0.0)
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def by_sweep(costs: Sequence[Cost]) -> dict[str, list[Cost]]:
    """The costs of each sweep, in its order."""
    result: dict[str, list[Cost]] = {}
    for cost in costs:
        result.setdefault(cost.case.sweep, []).append(cost)
    return result


def print_scaling(costs: Sequence[Cost]) -> None:
    """Print a table: a row a case, under the slopes of its sweep, and what 10^9 reference games would take."""
    for sweep, rows in by_sweep(costs).items():
        x = [row.case.x for row in rows]
        time, memory = slope(x, [r.seconds / r.case.games for r in rows]), slope(x, [r.peak for r in rows])
        if rows[0].case.over == "games":
            time += 1.0  # of all games, not of a single game
        print(f"{sweep}   (slopes in logarithms: time {_signed(time)}, memory {_signed(memory)})")
        for row in rows:
            print(
                f"  {row.case.over} = {row.case.x:>13,}  {2 * row.case.games / row.seconds:>13,.0f} games/s  {row.seconds:>8.2f} s"
                f"  + {row.setup:.2f} s to set up + {row.compiling:.2f} s to compile  {row.peak / 2**20:>6,.0f} MiB"
            )
    print(extrapolated(costs))


def _signed(number: float) -> str:
    return f"{round(number, 2) + 0.0:+.2f}"  # no -0.00


def extrapolated(costs: Sequence[Cost]) -> str:
    """What 10^9 games a world of the reference game would take, from the largest that was played."""
    last = max((c for c in costs if c.case.sweep == "reference game, games"), key=lambda c: c.case.games)
    hours = last.seconds * 1e9 / last.case.games / 3600
    return (
        f"10^9 reference games a world: {hours:.1f} hours here, extrapolated from {last.case.games:,}, "
        f"and {last.setup + last.compiling:.1f} s to set up and compile, once"
    )


def draw_scaling(costs: Sequence[Cost], file: str) -> None:
    """Draw seconds and memory of every sweep, both axes logarithmic, with the fitted slopes.
    `costs`: what was measured; `file`: where the picture goes; its ending says the format. Raises MissingPackageError if
    matplotlib is not installed; OSError if the file cannot be written.
    """
    figure_of = optional("matplotlib.figure", "pictures", "plot")
    names = {
        "games": "games in each world",
        "d": "coordinates d",
        "n": "records n",
        "devices": "simulated devices",
    }
    figure = figure_of.Figure(figsize=(11.0, 5.2), layout="constrained")
    axes = figure.subplots(2, len(names), sharex="col", sharey="row")
    sweeps = by_sweep(costs)
    for column, over in enumerate(names):
        for colour, marker, game in (("#0072B2", "o", "reference game"), ("#D55E00", "s", "projected game")):
            if (rows := sweeps.get(f"{game}, {over}")) is None:
                continue
            x = [row.case.x for row in rows]
            per = [1.0 if over == "games" else row.case.games / 1e6 for row in rows]
            for ax, y in (
                (axes[0, column], [r.seconds / p for r, p in zip(rows, per, strict=True)]),
                (axes[1, column], [r.peak / 2**20 for r in rows]),
            ):
                label = f"{game}, slope {_signed(slope(x, y))}"
                ax.loglog(x, y, marker=marker, color=colour, label=label, linewidth=1.0, markersize=4)
        axes[1, column].set_xlabel(names[over])
        if over == "devices":  # a decade's marks would overlap between 1 and 4
            counts = sorted({item.case.x for item in costs if item.case.over == "devices"})
            axes[1, column].set_xticks(counts, [str(single) for single in counts])
            axes[1, column].minorticks_off()
        for ax in axes[:, column]:
            ax.legend(frameon=False, fontsize=7)
            ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("seconds (others: of 10$^6$ games)")
    axes[1, 0].set_ylabel("peak memory (MiB)")
    axes[1, 0].set_ylim(100, 10_000)
    figure.savefig(file, dpi=110)


def run_scaling(quick: bool = False, file: str | None = None, figure: str | None = None) -> list[Cost]:
    """Measure every case in a process of its own, print the table, and write it as JSON and as a picture if requested.
    `quick`: fewer cases and games: below a minute and a half, where the other takes about four on two cores; `file`:
    where the JSON goes; the folder must exist; `figure`: where the picture goes (.png, .svg or .pdf); the folder must
    exist. Raises MissingPackageError if a picture is requested and matplotlib is not installed; checked before any work;
    OSError if a file cannot be written; checked before any work; RuntimeError if a process fails.
    """
    for place in (file, figure):
        if place is not None:
            with Path(place).open("a"):
                pass
    if figure is not None:
        optional("matplotlib.figure", "pictures", "plot")
    costs = [cost_of(case, 2 if quick else 3) for case in cases(quick)]
    print_scaling(costs)
    if file is not None:
        Path(file).write_text(json.dumps([asdict(cost) for cost in costs], indent=1) + "\n")
    if figure is not None:
        draw_scaling(costs, figure)
    return costs


if __name__ == "__main__":  # the process of `cost_of`
    print(json.dumps(asdict(play_case(Case(**json.loads(sys.argv[1])), int(sys.argv[2])))))
