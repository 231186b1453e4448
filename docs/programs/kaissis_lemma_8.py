"""Kaissis et al., lemma 8: two Gaussian mechanisms compose by averaging, to the curves of chi2_d with
noncentrality (Delta_a + Delta_b)^2 / (sigma_a^2 + sigma_b^2). Here d = Delta_a = Delta_b = sigma_a = 1 and
sigma_b = 3; the record shifts both outputs to the same, unknown, side.
"""

from scipy.stats import ncx2

delta_a, delta_b, sigma_a, sigma_b, d = 1.0, 1.0, 1.0, 3.0, 1
fpr = 0.05


def power(noncentrality):
    """Power of the test of a norm at this FPR: chi2_d without the record, noncentral with it."""
    return ncx2.sf(ncx2.isf(fpr, d, 0.0), d, noncentrality)


allowed = power((delta_a + delta_b) ** 2 / (sigma_a**2 + sigma_b**2))
# The attacker sees both outputs and need not average them: z_a alone, or weights Delta / sigma^2.
first_alone = power(delta_a**2 / sigma_a**2)
weighted = power(delta_a**2 / sigma_a**2 + delta_b**2 / sigma_b**2)

print(f"At FPR {fpr:g} lemma 8 says that the composition leaves the attacker a power of {allowed:.4f}.")
print(f"The first output alone, the second thrown away, gives {first_alone:.4f}.")
print(f"The sum weighted by Delta / sigma^2 gives {weighted:.4f}.")

assert first_alone > allowed + 0.05
assert weighted > first_alone
