"""dp_accounting: the privacy loss distribution of permute-and-flip is identical to that of the Laplace mechanism of scale 1/epsilon.

Of the worst neighbours it is; of any two it is dominated by it. With two candidates at scores 0 and -4 that move to -1 and -3,
epsilon = 1, delta at 0 (the total variation) is far less; where the scores cross, from 0 and -1 to -1 and 0, both are the same.
"""

import numpy as np

epsilon = 1.0
laplace = 1 - np.exp(-epsilon / 2)


def first_wins(gap):
    """The probability that the first of two candidates wins, `gap` ahead: the second wins if it comes first and its coin is heads."""
    return 1 - 0.5 * np.exp(-epsilon / 2 * gap)


far = abs(first_wins(4.0) - first_wins(2.0))
crossing = abs(first_wins(1.0) - (1 - first_wins(1.0)))
print(
    f"delta at 0: {laplace:.4f} of Laplace noise, {far:.4f} with the best far ahead, {crossing:.4f} where the scores cross."
)

rng, games = np.random.default_rng(0), 400_000
wins = []
for gap in (4.0, 2.0):
    second_first, heads = rng.random(games) < 0.5, rng.random(games) < np.exp(-epsilon / 2 * gap)
    wins.append(1 - np.mean(second_first & heads))
print(f"Played: {abs(wins[0] - wins[1]):.4f}.")
assert far < 0.5 * laplace
assert abs(crossing - laplace) < 1e-12
assert abs(abs(wins[0] - wins[1]) - far) < 0.01
