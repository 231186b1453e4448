"""The report of a run: verdicts.json and one self-contained page."""
