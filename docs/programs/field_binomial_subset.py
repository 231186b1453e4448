"""jax_privacy, issue 121: to draw the size of a batch from the binomial law and then a subset of that size is not Poisson sampling.

In fractions, over all subsets of 8 records: both laws are the same.
"""

from fractions import Fraction
from itertools import product
from math import comb

n, q = 8, Fraction(3, 10)
sizes = [Fraction(0)] * (n + 1)
for coins in product((0, 1), repeat=n):
    probability = Fraction(1)
    for coin in coins:
        probability *= q if coin else 1 - q
    sizes[sum(coins)] += probability

apart = Fraction(0)
for coins in product((0, 1), repeat=n):
    k = sum(coins)
    in_two_stages, by_coins = sizes[k] / comb(n, k), q**k * (1 - q) ** (n - k)
    apart = max(apart, abs(in_two_stages - by_coins))
print(f"The largest difference over {2**n} subsets is {apart}.")
assert apart == 0
