"""The report of a run: verdicts.json and a self-contained page."""
