"""Izzo et al., theorem 8: eta-MIP implies TPR <= FPR + eta for every attack.
Here n = 2 records of which a random record is used for training, and randomised response (epsilon = 2, delta = 0.1)
about x*: it tells the truth with probability delta + (1 - delta) e^epsilon / (1 + e^epsilon).
"""

from itertools import product

import numpy as np

truth = 0.1 + 0.9 * np.exp(2.0) / (1.0 + np.exp(2.0))
with_x = np.array([truth, 1.0 - truth])  # probabilities of the answers "in" and "out" where x* is in
without_x = with_x[::-1]

accuracies, gaps = [], []
for attack in product((0, 1), repeat=2):  # every attack: what it says at each answer, 1 for "in"
    tpr, fpr = with_x @ attack, without_x @ attack
    accuracies.append((tpr + 1.0 - fpr) / 2.0)  # x* is in or out with probability 1/2 each
    gaps.append(tpr - fpr)

eta = max(accuracies) - 0.5  # the least for which the algorithm is eta-MIP, by definition
print(f"No attack has an accuracy above 1/2 + {eta:.4f}: the algorithm is eta-MIP with eta = {eta:.4f}.")
print(f"Theorem 8: TPR - FPR is at most {eta:.4f}. The best attack has {max(gaps):.4f}, twice as much.")

assert max(gaps) > eta + 0.3
