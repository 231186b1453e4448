"""Theorems beyond the four papers that users meet every day."""

from verify.field import advantage, central_limit, gaussian, sampling, shuffled_batches, shuffling

MODULES = (gaussian, shuffled_batches, central_limit, sampling, advantage, shuffling)
"""In the order in which a user meets them."""
