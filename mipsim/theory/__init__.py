"""Every formula of the papers, as trade-off functions and numbers: a module for each paper; audits in a single run."""

from mipsim.theory import azize, azize_moments, izzo, izzo_example, kaissis, leemann, one_run

__all__ = ["azize", "azize_moments", "izzo", "izzo_example", "kaissis", "leemann", "one_run"]
