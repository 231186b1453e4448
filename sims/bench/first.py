"""How soon a first answer comes: new processes that import JAX, then mipsim, and play the reference game twice."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

from sims.bench.contest import Timing

STEPS = ("import jax", "import mipsim beyond it", "first 1,000 games", "another game of the same shapes")
_GAMES = 1000
_PROCESS = f"""
import json, time
begun, took = time.perf_counter(), []
def lap():
    global begun
    now = time.perf_counter()
    took.append(now - begun)
    begun = now
import jax
lap()
import mipsim as mi
mi.play
lap()
from sims.studies import STUDIES
compiled = []
def heard(event, _, **about):
    if event == "/jax/core/compile/backend_compile_duration":
        compiled.append(event)
jax.monitoring.register_event_duration_secs_listener(heard)
begun = time.perf_counter()
for seed in (0, 1):
    compiled.clear()
    game, attack = STUDIES["azize_fig2_easy"].build()
    mi.play(game, attack, {_GAMES}, seed, progress=False)
    lap()
print(json.dumps(took + [len(compiled)]))
"""


def first_answers(quick: bool) -> list[Timing]:
    """The seconds of each step in new processes, one after the other, with compiled code from a folder and without.

    Args:
        quick: three processes of each kind instead of seven.

    Returns:
        One timing a step, "per second" of it; ratios are to the import of JAX in the same process, the first of them.

    Raises:
        RuntimeError: if a process fails, or compiles anything for the second game.
    """
    bare, kept = [], []
    with tempfile.TemporaryDirectory() as folder:
        _seconds(folder)  # fills the folder
        for _ in range(3 if quick else 7):
            bare.append(_seconds(None))
            kept.append(_seconds(folder))
    return [
        *(
            _timing(name, [took[i] for took in bare], [took[0] for took in bare])
            for i, name in enumerate(STEPS)
        ),
        _timing(f"{STEPS[2]}, compiled code kept", [took[2] for took in kept], [took[0] for took in kept]),
    ]


def print_first(timings: list[Timing]) -> None:
    """Print the seconds of each step."""
    print("first answers of a new process, on all cores   (seconds: median; ratio to import jax)")
    width = max(len(t.name.split(": ")[1]) for t in timings)
    for t in timings:
        low, high = t.spread
        print(
            f"  {t.name.split(': ')[1]:<{width}}  {1 / t.games_per_second:>8.2f} s  {1 / t.ratio:>6.2f} of it"
            f"  ({1 / high:.2f} to {1 / low:.2f})"
        )


def _timing(name: str, own: list[float], jax: list[float]) -> Timing:
    ratios = [theirs / mine for mine, theirs in zip(own, jax, strict=True)]
    spread = min(ratios), max(ratios)
    speed = 1.0 / statistics.median(own)
    return Timing(
        f"first answers: {name}", speed, STEPS[0], statistics.median(ratios), spread, "all cores", "times"
    )


def _seconds(folder: str | None) -> list[float]:
    """The seconds of `STEPS` in a new process that keeps compiled code in a folder, or nowhere."""
    known = {k: v for k, v in os.environ.items() if "COMPILATION_CACHE" not in k}
    done = subprocess.run(
        [sys.executable, "-c", _PROCESS],
        env=known | {"MIPSIM_COMPILATION_CACHE": "off" if folder is None else folder},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(
            f"a process that plays a first game ended with {done.returncode}: {done.stderr[-300:]}"
        )
    *took, compiled = json.loads(done.stdout)
    if compiled:
        raise RuntimeError(f"the second game of the same shapes compiled {compiled} pieces of code anew")
    return took
