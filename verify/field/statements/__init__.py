"""Theorems beyond the four papers that users meet every day."""

from verify.field.statements import (
    advantage,
    central_limit,
    gaussian,
    one_run,
    sampling,
    shuffled_batches,
    shuffling,
)

MODULES = (gaussian, shuffled_batches, central_limit, sampling, advantage, one_run, shuffling)
"""In the order in which a user meets them."""
