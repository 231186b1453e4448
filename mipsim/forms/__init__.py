"""A game reduced to its form: what is scored (`score`, `polynomial`), and at what (`aim`)."""
