"""Theorems beyond the four papers that users meet every day, as statements of `mipsim.referee`."""

from verify.field.advantage import HUMPHRIES, YEOM
from verify.field.central_limit import CENTRAL_LIMIT
from verify.field.gaussian import CLASSICAL_GAUSSIAN, CLASSICAL_GAUSSIAN_CORRECTED
from verify.field.sampling import SAMPLING, SAMPLING_CORRECTED
from verify.field.shuffled_batches import SHUFFLED_BATCHES
from verify.field.shuffling import SHUFFLING

STATEMENTS = (
    CLASSICAL_GAUSSIAN,
    CLASSICAL_GAUSSIAN_CORRECTED,
    SHUFFLED_BATCHES,
    CENTRAL_LIMIT,
    SAMPLING,
    SAMPLING_CORRECTED,
    YEOM,
    HUMPHRIES,
    SHUFFLING,
)
"""Judged by `mipsim judge verify/field/__init__.py`, hunted by `mipsim hunt` of the same."""
