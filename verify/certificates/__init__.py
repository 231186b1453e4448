"""Certificates of statements: the formulas of claims and truths, taken from the functions that compute them."""
