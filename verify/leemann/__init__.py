"""The claims of Leemann, Pawelczyk & Kasneci (2023), each judged over its domain."""

from verify.claim import Claim
from verify.leemann import composition, finite_run, guarantee, mip, noise, step, stochastic, susceptibility

CLAIMS: tuple[Claim, ...] = tuple(
    claim
    for module in (stochastic, mip, step, guarantee, susceptibility, composition, finite_run, noise)
    for claim in module.CLAIMS
)
"""In the order of the paper."""
