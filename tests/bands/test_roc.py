import numpy as np
import pytest

import mipsim as mi


def test_the_curve_is_that_of_the_scores_by_world() -> None:
    rng = np.random.default_rng(1)
    member = rng.random(500) < 0.5
    scores = rng.normal(size=500) + member
    curve = mi.roc(member, scores, confidence=0.9)
    twin = mi.EmpiricalTradeOff.from_scores(
        out_scores=scores[~member], in_scores=scores[member], confidence=0.9
    )
    assert curve.advantage_interval() == twin.advantage_interval()
    assert mi.roc(~member, scores).advantage_interval() != mi.roc(member, scores).advantage_interval()


@pytest.mark.parametrize(
    ("member", "scores", "sentence"),
    [
        ([0, 1, 2], [1.0, 2.0, 3.0], "member holds 2; every entry must be 0 or 1"),
        ([0, 1], [1.0, 2.0, 3.0], "scores has 3 entries; it must have an entry for each of the 2 of member"),
        ([1, 1], [1.0, 2.0], "member holds 1 only; both worlds, 0 and 1, must occur"),
        ([0, 1], [1.0, float("nan")], "scores holds NaN at index 1"),
        ([], [], "member"),
    ],
)
def test_bad_input_gets_a_single_sentence(member: list[int], scores: list[float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        mi.roc(member, scores)
