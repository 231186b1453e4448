"""The ROC curve of an attack from raw scores, with its band."""

import numpy as np

from mipsim._validation import finite_vector, score_vector
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff


def roc(member: object, scores: object, confidence: float = 0.95) -> EmpiricalTradeOff:
    """Build the trade-off curve of an attack, with a band that holds at all thresholds at once.

    The scores must be independent, each from a game of its own; for other designs use `mipsim.audit`. `plot` draws the curve.

    Args:
        member: 1 for the world "in", 0 for "out", shape (n,): what scikit-learn calls `y_true`.
        scores: higher = "in", shape (n,): what scikit-learn calls `y_score`; infinite ones count by rank.
        confidence: of the band, in [0.5, 1 - 2e-9].

    Returns:
        The curve of false negatives against false positives; TPR = 1 - FNR.

    Raises:
        ValueError: if an argument is not as above, or a world has no score.

    Source: the band is that of Duembgen and Wellner, see `mipsim.bands.duembgen_wellner`.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> member = np.arange(2000) % 2
        >>> curve = roc(member, rng.normal(size=2000) + 2.0 * member)
        >>> low, high = curve.advantage_interval()
        >>> low < 0.6827 < high  # 2 Phi(1) - 1
        True
    """
    worlds, values = finite_vector("member", member), score_vector("scores", scores)
    if not np.isin(worlds, (0.0, 1.0)).all():
        raise ValueError(
            f"member holds {worlds[~np.isin(worlds, (0.0, 1.0))][0]:g}; every entry must be 0 or 1"
        )
    if worlds.size != values.size:
        raise ValueError(
            f"scores has {values.size} entries; it must have an entry for each of the {worlds.size} of member"
        )
    if (worlds == worlds[:1]).all():
        raise ValueError(f"member holds {worlds[0]:g} only; both worlds, 0 and 1, must occur")
    return EmpiricalTradeOff.from_scores(
        out_scores=values[worlds == 0.0], in_scores=values[worlds == 1.0], confidence=confidence
    )
