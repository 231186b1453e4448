"""Azize and Basu, lemma C.12: V_0[W] = rho t^2/n + o(1/n).

Here Student's t with 7 degrees of freedom, which has the (4 + delta)-th moment that is assumed, and t = 0, rho = 1/2. W holds
rho (1 - rho)/8 (delta_out^2 - delta_in^2)^2, a polynomial of degree 4 in one record; its variance asks for the 8th moment.
"""

from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.stats import t as student

df = 7.0
# With t = 0 is delta_in = sqrt(k/(k - 1)) delta_out, so that W is a polynomial of degree 4 in x = delta_out, with the
# coefficient rho (1 - rho)/(8 (k - 1)^2) > 0 of x^4. Given the other records, x is one record Z, shifted and scaled:
# W has a finite variance only if E[Z^8] is finite. Its part within [-L, L]:
found = []
for length in (1e3, 1e4, 1e5, 1e6):
    points = np.geomspace(1.0, length, 25)
    found.append(sum(2 * quad(lambda z: z**8 * student.pdf(z, df), a, b)[0] for a, b in pairwise(points)))
    print(f"E[Z^8; 1 < |Z| < {length:g}] = {found[-1]:.3g}")
growth = np.diff(np.log10(found))
# The density falls as |z|^-8: the integrand tends to a constant, and the integral grows as the length, without end.
assert np.all(growth > 0.9)
