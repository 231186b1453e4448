"""Special functions that SciPy and JAX lack: the non-central chi-square law in its far tails."""

from mipsim.special import noncentral_chi_square

__all__ = ["noncentral_chi_square"]
