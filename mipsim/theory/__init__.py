"""Every formula of the papers, as trade-off functions and numbers: a module for each paper; audits in a single run."""

from mipsim.theory import azize, izzo, izzo_example, kaissis, leemann, one_run

__all__ = ["azize", "izzo", "izzo_example", "kaissis", "leemann", "one_run"]
