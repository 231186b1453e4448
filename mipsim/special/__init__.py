"""Special functions that SciPy and JAX lack: the non-central chi-square and Student laws in their far tails."""

from mipsim.special import noncentral_chi_square, noncentral_t

__all__ = ["noncentral_chi_square", "noncentral_t"]
