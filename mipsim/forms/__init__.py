"""A game reduced to its form: what is released (`release`), and what is scored (`score`)."""
