"""Designs of an audit and its default settings; light, since a command's `--help` shows it."""

DESIGNS = {
    "independent": "every score is of a training run, or a game, of its own, independent of the others and equally distributed in its world",
    "one-run": "all scores are of canaries of a single training run, each put in by a fair coin",
    "runs": "training runs have randomness of their own; coins are independent between records and exchangeable between the runs of a "
    "record; no score was calibrated by coins of the judged runs",
    "clustered": "clusters of scores are independent of each other and share no training run; scores within a cluster may be arbitrarily "
    "dependent, each with the distribution of its world",
}
"""What each design promises of the scores; nothing in the scores can show that it is so."""
ROWS = ("records", "models")
"""What a row of a matrix of scores may be of."""
CONFIDENCE = 0.95
DELTA = 1e-5
FORMS = (
    "mu=1 (or gdp=1), epsilon=2,delta=1e-5, rho=0.5, advantage=0.1, tpr=0.2,fpr=0.01, sigma=1,rate=0.1,steps=90 "
    "or a .csv file with alpha and beta"
)
"""How a promised guarantee is written."""
