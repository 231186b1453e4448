"""The claims of Leemann, Pawelczyk & Kasneci (2023), each judged over its domain."""

from verify.bridge import claims_in
from verify.claim import Claim
from verify.leemann import composition, finite_run, guarantee, mip, noise, step, stochastic, susceptibility

CLAIMS: tuple[Claim, ...] = claims_in(
    "leemann", (stochastic, mip, step, guarantee, susceptibility, composition, finite_run, noise)
)
"""In the order of the paper."""
