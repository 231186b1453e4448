"""Izzo et al., proposition 11: A(D) = 1/sum(D) over the halves of {2^0, ..., 2^(n-2), x_last} has sensitivity
Omega(2^(n/3)).
Here x_last = C(n, n/2)^(1/2) - sum_{i <= n/2 - 2} 2^i, as section 4 prints it.
"""

from itertools import combinations
from math import comb

for n in (8, 10, 12):
    last = comb(n, n // 2) ** 0.5 - sum(2.0**i for i in range(n // 2 - 1))
    data = [2.0**i for i in range(n - 1)] + [last]
    value = {half: 1.0 / sum(data[i] for i in half) for half in combinations(range(n), n // 2)}
    sensitivity = 0.0  # the largest change where a record of the half is replaced by a record from outside it
    for half, own in value.items():
        for gone in half:
            for new in set(range(n)) - set(half):
                other = tuple(sorted(set(half) - {gone} | {new}))
                sensitivity = max(sensitivity, abs(own - value[other]))
    # No half has a smaller sum than that of x_last with the n/2 - 1 least powers, C(n, n/2)^(1/2), or of the
    # n/2 least powers.
    bound = 1.0 / min(comb(n, n // 2) ** 0.5, 2.0 ** (n // 2) - 1.0)
    print(
        f"n = {n}: 2^(n/3) = {2 ** (n / 3):.3g}; the sensitivity is {sensitivity:.4g}, at most {bound:.4g}."
    )
    assert sensitivity <= bound * (1 + 1e-9)

n = 200
bound = 1.0 / min(comb(n, n // 2) ** 0.5, 2.0 ** (n // 2) - 1.0)
print(
    f"n = {n}: 2^(n/3) = {2 ** (n / 3):.3g}; the sensitivity is at most {bound:.3g}: it falls where it should grow."
)

assert bound < 1e-40 * 2 ** (n / 3)
