"""Izzo et al., lemma 13: if E||X - EX||^2 <= sigma^k then P(||X - EX|| > t sigma) <= 1/t^k for any t > 0.
Here k = 3, sigma = 3, t = 4, and X on the line: +-a with a little above t sigma, else 0, in whole fractions.
"""

from fractions import Fraction

k, sigma, t = 3, Fraction(3), Fraction(4)

a = t * sigma * Fraction(10_001, 10_000)
p = sigma**k / a**2  # P(X = a) = P(X = -a) = p/2
law = {a: p / 2, -a: p / 2, Fraction(0): 1 - p}

mean = sum(x * share for x, share in law.items())
second = sum((x - mean) ** 2 * share for x, share in law.items())
tail = sum(share for x, share in law.items() if abs(x - mean) > t * sigma)

print(f"E|X - EX|^2 = {second}, which is sigma^{k} = {sigma**k}: the premise holds.")
print(f"Lemma 13: P(|X - EX| > t sigma) is at most {float(1 / t**k):.6f}. It is {float(tail):.6f}.")

assert min(law.values()) >= 0
assert sum(law.values()) == 1
assert second <= sigma**k
assert tail > 10 / t**k
