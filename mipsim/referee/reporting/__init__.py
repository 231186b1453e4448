"""The report of judges and hunts, and what every report of verdicts is made of."""
