"""Leemann et al., theorem 4.2: an f-DP algorithm is f-MIP, neighbours adding or removing a record (table 1).
Here a sum of n = 3 gradients in [-1, 1] with N(0, 1) added, which is 1-GDP. The target's gradient is 1; all others
are -1, and so is that of the record which has the target's place where it is out.
"""

from scipy.special import ndtr, ndtri

mu, n, fpr = 1.0, 3, 0.05

centre_out = -float(n)
centre_in = -(n - 1.0) + 1.0  # definition 4.2 has n records in both worlds
promised = ndtr(-ndtri(fpr) - mu)  # g_mu
cut = centre_out - ndtri(fpr)
missed = ndtr(cut - centre_in)

print(
    f"1-GDP for a record added or removed. At FPR {fpr:g}, 1-GMIP promises an FNR of at least {promised:.4f}."
)
print(f"The two worlds of the membership game are {centre_in - centre_out:g} apart: the FNR is {missed:.4f}.")

assert missed < promised - 0.3
