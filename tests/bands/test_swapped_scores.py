"""Labels in the place of scores are refused."""

from typing import Any

import numpy as np
import pytest

import mipsim as mi


def test_scores_by_scikit_learns_names_are_refused() -> None:
    labels = np.repeat([0.0, 1.0], 50)
    scores = labels + np.random.default_rng(0).normal(size=100)
    built: Any = mi.EmpiricalTradeOff.from_scores
    with pytest.raises(ValueError, match="must both be given by name; of scores s with labels y"):
        built(y_true=labels, y_score=scores)
    with pytest.raises(TypeError, match="from_scores has no argument 'colour'"):
        built(out_scores=labels, in_scores=scores, colour=1)
    for named in (
        {"out_scores": labels, "in_scores": scores},
        {"out_scores": scores, "in_scores": labels.astype(int)},
    ):
        with pytest.raises(ValueError, match="holds 0 and 1 alone, as labels do"):
            built(**named)
    assert built(out_scores=labels, in_scores=np.roll(labels, 3)).out_games == 100  # a yes/no attack
    assert built(out_scores=labels, in_scores=scores[1:]).out_games == 100
    with pytest.raises(ValueError, match="scores come first"):
        mi.audit(labels, scores, design="independent")
