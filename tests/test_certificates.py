"""Certificates: the checker accepts what is proven, and nothing that lies beyond it."""

import json

import pytest
from flint import ctx

import mipsim as mi
from mipsim import check

QUESTIONS = {
    "a Gaussian shift": lambda: mi.GaussianTradeOff(1.3),
    "a Laplace shift": lambda: mi.LaplaceTradeOff(0.7),
    "a promise": lambda: mi.ApproxDPTradeOff(0.5, 0.01),
    "a sampled step": lambda: mi.dpsgd(1.1, 0.1),
    "steps": lambda: mi.dpsgd(1.0, 0.05, 20, neighbours="add"),
    "Laplace steps": lambda: mi.compose(mi.MixtureTradeOff(mi.LaplaceTradeOff(1.0), 0.3), copies=5),
    "unlike steps": lambda: mi.compose(
        mi.MixtureTradeOff(mi.GaussianTradeOff(1.0), 0.2), mi.LaplaceTradeOff(0.5), copies=[4, 3]
    ),
    "a group": lambda: mi.dpsgd(2.0, 0.1, 6, neighbours="remove", group=2),
    "an account": lambda: mi.account(1.0, 0.1, 10, epsilon=0.5, fpr=0.01),
}


@pytest.fixture(autouse=True)
def _same_precision():
    before = ctx.prec
    yield
    ctx.prec = before


def narrower(claim):
    """Claims of which an end lies 1e-9 within what is proven, or both ends beside the number."""
    for end, sign in (("low", 1.0), ("high", -1.0)):
        if claim[end] is not None and (value := float.fromhex(claim[end])):
            yield claim | {end: (value * (1.0 + sign * 1e-9)).hex()}
            yield claim | {"low": (2.0 * value).hex(), "high": (3.0 * value).hex()}


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_proven_is_accepted_and_nothing_beyond(question, tmp_path, capsys):
    path = mi.certify(QUESTIONS[question](), tmp_path / "certificate.json", width=0.02)
    certificate = json.loads(path.read_text())
    assert check.main([str(path)]) == 0
    assert capsys.readouterr().out.endswith("ACCEPTED\n")
    for ends, claim in zip(check.computed(certificate), certificate["claims"], strict=True):
        assert check.proves(ends, claim)
        assert not any(check.proves(ends, changed) for changed in narrower(claim))
