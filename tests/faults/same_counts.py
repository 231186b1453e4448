"""A single digest of the counts and thresholds of a run for each way to play, which no setting may change."""

import hashlib

import mipsim as mi
from sims.every_sampler import small_games

# Not "clipped-scores": its rows are float32, and a pilot's thresholds move with rounding of 1e-7.
RUNS = (
    *("normal", "poisson-normal", "records", "table-with-coin", "table-of-ratios", "random-table"),
    *("random-cells", "subset", "clipped-law", "ratio", "glir", "laplace-noise", "norm-noise"),
)


def digest(runs: tuple[str, ...] = RUNS) -> str:
    """SHA-256 of what 200 games count on a pilot's thresholds, and of a target that is sampled."""
    result = hashlib.sha256(mi.Gaussian(0.2, 1.0, d=4).typical_target(3).tobytes())
    for name in runs:
        counts = mi.play(*small_games()[name], 200, seed=7, progress=False)
        for array in (counts.edges, counts.out, counts.inside):
            result.update(array.tobytes())
    return result.hexdigest()
