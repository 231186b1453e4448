"""Each letter has a single meaning: C is the clip of Leemann et al., as in their paper, and Sigma the covariance in all our words."""

import re

from verify.register import REGISTER

COVARIANCE = re.compile(r"(?<![\w\\])C'?\^\{?-1|w'Cw|w\^T C w|\bC nonsingular|\bC_(\\)?gamma")


def test_c_is_the_clip_and_no_covariance() -> None:
    for planted in (
        "||C^-1/2 theta'||^2",
        "(m - \\theta)^T C^{-1} (m - \\theta)",
        "sqrt(n w'Cw)",
        "N(0, C_gamma)",
    ):
        assert COVARIANCE.search(planted)
    for name, statement in REGISTER.items():
        for text in (statement.says, statement.derivation, statement.formula, statement.snippet):
            assert not COVARIANCE.search(text), (name, text)
