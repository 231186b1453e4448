"""Azize & Basu (2025), figure 6: the covariance attack with moments estimated from n0 reference points."""

from pathlib import Path
from typing import Any

import numpy as np

import mipsim as mi
from figures import roc, style
from figures.study_counts import Request, play
from mipsim.theory import azize
from sims.azize_paper import REGULARISATION, estimated

DESCRIPTION = "effect of the number of reference points on the covariance attack"
REFERENCES = (1, 2, 5, 10, 100, 1000)
COLOURS = ("#F6C27A", "#F0894D", "#D5485A", "#9B2A7A", "#4E2374", "#1E1548")
STRONGER = 1.0
"""A regularisation to compare with."""
CAPTION_INCHES = 0.75


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the studies, draw the panel, write the files."""
    curves = [_curve(n0, colour, request) for n0, colour in zip(REFERENCES, COLOURS, strict=True)]
    best = curves[-1].played.leakage()
    known = "known moments", "known moments", lambda alpha: azize.power(alpha, best)
    return roc.single_panel(request, "azize_fig6", curves, known, _caption(request, best), CAPTION_INCHES)


def _curve(n0: int, colour: str, request: Request) -> roc.Curve:
    played = play(f"azize_fig6_n0_{n0}", request)
    predicted = {roc.THEORY: mi.GaussianTradeOff(_mu(n0, REGULARISATION))}
    return roc.Curve(rf"$n_0 = {n0}$", f"n0={n0}", colour, played, predicted)


def _mu(n0: int, regularisation: float) -> float:
    """Of the normal limit given the reference points."""
    built: Any = estimated(n0, regularisation)
    game, attack = built
    return azize.effective_mu(np.asarray(attack.weights(game.target)), game.data, game.target, game.n)


def _caption(request: Request, score: float) -> str:
    mus = {
        ridge: ", ".join(f"{_mu(n0, ridge):.2f}" for n0 in REFERENCES) for ridge in (REGULARISATION, STRONGER)
    }
    return (
        "After Azize & Basu (2025), Fig. 6: covariance score with mean and variances estimated from n₀ reference points. "
        f"Solid: {request.games:,} games in each world per curve, seed {request.seed}; "
        f"shaded: {roc.CONFIDENCE:.0%} confidence bands, simultaneous over all FPRs and all six curves. "
        f"Dashed: the normal limit of the score given its reference points, whose μ is {mus[REGULARISATION]}: more points do not always help. "
        f"Dotted: theorem 3.1, known moments.{style.SETTINGS}"
        f"Bernoulli data, n = 1000, d = 5000, easiest target (m* = {score:.2f}); {REGULARISATION:g} added to each variance, and a single draw of the reference points for each n₀. "
        f"With {STRONGER:g} added μ is {mus[STRONGER]}."
    )
