"""What `mipsim.special` offers; see there."""

from mipsim.special import noncentral_chi_square, noncentral_t

__all__ = ["noncentral_chi_square", "noncentral_t"]
