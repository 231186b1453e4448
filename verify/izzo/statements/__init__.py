"""The statements of Izzo, Yoon, Arik & Zou (2024), each judged over its domain."""

from verify.izzo.statements import definition, dp, example, inequalities, noise, rates, wrapper

MODULES = (definition, dp, rates, noise, example, inequalities, wrapper)
"""In the order of the paper."""
