"""`python -m sims bench`: how fast things are, against other ways to do them, in a single process."""

from sims.bench.command import run_bench
from sims.bench.contest import Contest, Timing, Way, measure

__all__ = ["Contest", "Timing", "Way", "measure", "run_bench"]
