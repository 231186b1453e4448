"""Every formula of the papers, as trade-off functions and numbers: one module a paper."""

from mipsim.theory import azize, azize_moments, izzo, izzo_example, kaissis, leemann

__all__ = ["azize", "azize_moments", "izzo", "izzo_example", "kaissis", "leemann"]
