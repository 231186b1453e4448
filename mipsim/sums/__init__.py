"""Certified sums: laws of sums of independent terms on a lattice, rounded to both sides and convolved with tilted transforms.

`lattice` raises measures on a lattice to powers and bounds what rounding and wrapping around change; `cells` puts a law
between two measures on a lattice, the first with a curve below, the second with a curve above.
"""
