"""One letter, one meaning: in the statements on Leemann et al. C is the clip, as in the paper, and Sigma the covariance."""

import re

from verify.register import REGISTER, paper_of

INVERSE = re.compile(r"\bC\^(\{)?-1|\|C\^-")


def test_c_is_the_clip_of_leemann_and_no_covariance() -> None:
    assert INVERSE.search("||C^-1/2 theta'||^2")  # what is looked for
    assert INVERSE.search(r"(m - \\theta)^T C^{-1} (m - \\theta)")
    for name, statement in REGISTER.items():
        if paper_of(name) == "leemann":
            for text in (statement.says, statement.derivation, statement.formula):
                assert not INVERSE.search(text), (name, text)
