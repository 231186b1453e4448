"""Azize and Basu, theorem 2.1 (a), with Pow_n as defined in section 2.2, by thresholds without randomisation.

The mechanism releases whether the target is among two records, turned round with probability 1/2 (epsilon = 0).
"""

alpha = 0.5

# Both outputs have probability 1/2 in both worlds: the log-likelihood ratio is 0 whatever is released.
# A threshold on it says "member" always (FPR 1) or never (FPR 0, power 0).
power_of_ratio = 0.0

# The score s = the released bit says "member" on exactly one of the two outputs.
fpr_of_bit = power_of_bit = 0.5

print(
    f"At FPR {alpha:g}: thresholds on the ratio have power {power_of_ratio:g}, a threshold on the bit {power_of_bit:g}."
)
assert fpr_of_bit <= alpha
assert power_of_bit > power_of_ratio
