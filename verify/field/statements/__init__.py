"""Theorems beyond the four papers: what users meet every day, and claims of the field, each with the words and where they stand."""

from verify.field.statements import (
    advantage,
    allocation,
    central_limit,
    gaussian,
    one_run,
    random_lines,
    sampling,
    selection,
    shuffled_batches,
    shuffling,
)

MODULES = (
    gaussian,
    shuffled_batches,
    central_limit,
    sampling,
    advantage,
    one_run,
    shuffling,
    allocation,
    selection,
    random_lines,
)
"""In the order in which a user meets them."""
