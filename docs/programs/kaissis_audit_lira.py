"""Kaissis et al., figure 3a: at Delta/sigma = 1 offline LiRA "nearly perfectly matches" the bound j.
Here 8 shadow models without the record, and a logit linear in the released gradient: in units of the noise
N(0, 1) without the record and N(1, 1) with it. LiRA thresholds |logit - mean| / deviation of the shadow models.
"""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import nct, t

shadows, ratio = 8, 1.0

# (logit - mean) / (deviation sqrt(1 + 1/m)) is Student's with m - 1 degrees of freedom, noncentral with the
# record.
shift = ratio / np.sqrt(1.0 + 1.0 / shadows)
for alpha in (0.01, 0.05):
    cut = t.isf(alpha / 2.0, shadows - 1)
    lira = nct.sf(cut, shadows - 1, shift) + nct.cdf(-cut, shadows - 1, shift)
    z = -ndtri(alpha / 2.0)
    bound = ndtr(ratio - z) + ndtr(-ratio - z)  # 1 - j: the test |logit| > z, noise known
    print(
        f"At FPR {alpha:g}: j allows a power of {bound:.4f}; LiRA with {shadows} shadow models has {lira:.4f}."
    )
    assert lira < 0.85 * bound
