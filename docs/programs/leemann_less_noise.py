"""Leemann et al., section 6.2: "we never need to add more noise for mu-GMIP than for mu-DP", neighbours adding
or removing a record (table 1). Here mu = 1 and n = 1 gradient, +1 or -1 with probability 1/2 each, is released
with N(0, 1) added; the target's is +1.
"""

from scipy.optimize import root_scalar
from scipy.special import ndtr, ndtri

mu, fpr = 1.0, 0.8

# A record added or removed moves the sum by at most 1: noise of deviation 1 gives 1-GDP.
promised = ndtr(-ndtri(fpr) - mu)  # FNR of g_mu


def false_positives(cut):
    """P(output > cut) where the target is out: its place is taken by a fresh gradient."""
    return 0.5 * ndtr(1.0 - cut) + 0.5 * ndtr(-1.0 - cut)


cut = root_scalar(lambda c: false_positives(c) - fpr, bracket=(-10.0, 10.0)).root
missed = ndtr(cut - 1.0)

print(f"Noise 1 gives mu-GDP with mu = {mu:g}. mu-GMIP at FPR {fpr:g} is an FNR of at least {promised:.5f}.")
print(
    f"With this noise the membership attack has an FNR of {missed:.5f}: mu-GMIP needs more noise than mu-GDP."
)

assert missed < 0.5 * promised
