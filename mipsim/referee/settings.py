"""What judges and hunts take by default; light, since a command's `--help` shows it."""

CONFIDENCE = 0.999
GAMES = 200_000
"""In each world, where games are played: they resolve about 0.02 probits in the middle of the curve."""
BUDGET = "60s"
AFTER_JUDGING = "20s"
"""Of the hunt with which `mipsim judge` ends: judged points were not searched."""
