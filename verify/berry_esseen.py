"""Constants of the theorem of Berry and Esseen: how far the distribution function F of a standardised sum is from Phi, that of the normal law."""

SAME_LAW = 0.4748
"""|F - Phi| <= SAME_LAW E|X - EX|^3 / (Var X^(3/2) sqrt(n)) for n >= 1 independent terms of the same law with a third moment.

Source: Shevtsova (2011), "On the absolute constants in the Berry-Esseen type inequalities for identically distributed summands", abstract
(arXiv:1111.6554).
"""
OTHER_LAWS = 0.56
"""|F - Phi| <= OTHER_LAWS sum E|X - EX|^3 / (sum Var X)^(3/2) for independent terms of any laws with third moments.

Source: Shevtsova (2010), "An improvement of convergence rate estimates in the Lyapunov theorem", Doklady Mathematics 82, 862-864.
"""
