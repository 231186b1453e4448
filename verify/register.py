"""Every claim that is judged, paper by paper."""

from verify import azize, izzo, kaissis, leemann
from verify.claim import Claim

REGISTER: dict[str, Claim] = {
    claim.id: claim for paper in (azize, leemann, kaissis, izzo) for claim in paper.CLAIMS
}
"""Id -> claim."""
