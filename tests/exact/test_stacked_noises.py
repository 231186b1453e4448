"""Inversion with two noises on lattice data, against direct sums over all atoms; both noises must count."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipsim.exact.density_rows import LaplaceRow, NormalRow
from mipsim.exact.discrete_rows import BernoulliRow
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.rows import AbstractRow
from mipsim.exact.transform import RowsTransform
from tests.exact.direct_sums import Noise, binomial_atoms, noisy_sf

REFERENCE = 3e-12  # of SciPy's binomial mass and of the quadrature
KINDS = [("laplace", "gauss"), ("gauss", "laplace"), ("laplace", "laplace"), ("gauss", "gauss")]
STEPS = [1.0, -1.0, 2.0]
Case = tuple[RowsTransform, np.ndarray, np.ndarray, list[Noise]]


def part(noise: Noise) -> AbstractRow:
    kind, scale = noise
    return NormalRow(scale**2) if kind == "gauss" else LaplaceRow(np.array([scale]))


@st.composite
def stacks(draw: st.DrawFn, dimensions: int) -> Case:
    """Rows on whole numbers with two noises of .1 to 10 steps."""
    d, n = draw(st.integers(1, dimensions)), draw(st.integers(2, 8))
    p = np.array([draw(st.sampled_from([0.5, 0.3, 0.97, 0.1234])) for _ in range(d)])
    weights = np.array([draw(st.sampled_from(STEPS)) for _ in range(d)])
    noises = [
        (kind, float(np.exp(draw(st.floats(np.log(0.1), np.log(10.0))))))
        for kind in draw(st.sampled_from(KINDS))
    ]
    target = float(draw(st.integers(-3, 3)))
    row = BernoulliRow(weights, p)
    return (
        RowsTransform(row, n, float(weights @ p), target, 0.0, tuple(map(part, noises))),
        weights,
        p,
        noises,
    )


def atoms_of(weights: np.ndarray, p: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Few atoms, as sums are whole numbers: coordinate after coordinate."""
    atoms, probability = np.zeros(1), np.ones(1)
    for w, q in zip(weights, p, strict=True):
        item, mass = binomial_atoms(np.array([w]), np.array([q]), n)
        sums = np.add.outer(atoms, item).ravel()
        atoms, place = np.unique(sums, return_inverse=True)
        probability = np.bincount(place.ravel(), np.multiply.outer(probability, mass).ravel())
    return atoms, probability


def off(law: InvertedLaw, case: Case, noises: list[Noise], member: bool) -> float:
    """The largest distance of the law from direct sums with the given noises, at a few thresholds about the middle."""
    transform, weights, p, own = case
    atoms, probability = atoms_of(weights, p, transform.rows - member)
    atoms = atoms + member * transform.target
    centre = float(probability @ atoms)
    spread = np.sqrt(float(probability @ (atoms - centre) ** 2) + sum(scale**2 for _, scale in own))
    x = centre + spread * np.array([-1.7, -0.8, 0.31, 1.1])
    return float(np.abs(law.sf(x, inside=member) - noisy_sf(atoms, probability, noises, x)).max())


def judge(case: Case) -> None:
    law = InvertedLaw(case[0])
    for member in (False, True):
        assert off(law, case, case[3], member) <= law.error_bound + REFERENCE


@pytest.mark.evidence
@settings(max_examples=8)
@given(stacks(3))
def test_two_noises_are_added(case: Case) -> None:
    judge(case)


@pytest.mark.slow
@settings(max_examples=1000)
@given(stacks(20))
def test_two_noises_are_added_in_many_games(case: Case) -> None:
    judge(case)


@pytest.mark.evidence
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("lost", [0, 1])
def test_a_lost_noise_is_seen(kinds: tuple[str, str], lost: int) -> None:
    """The negative control: a law without either of the noises, or with a noise 2% too wide, is refuted by the same judge."""
    noises = [(kinds[0], 0.9), (kinds[1], 1.3)]
    weights, p = np.array([1.0, -2.0]), np.array([0.3, 0.5])
    true = RowsTransform(BernoulliRow(weights, p), 6, float(weights @ p), 2.0, 0.0, tuple(map(part, noises)))
    judge((true, weights, p, noises))
    wider = [(kind, 1.02 * scale if i == lost else scale) for i, (kind, scale) in enumerate(noises)]
    for wrong in ([noises[1 - lost]], wider):
        law = InvertedLaw(replace(true, noise=tuple(map(part, wrong))))
        assert law.error_bound < 1e-6
        with pytest.raises(AssertionError):
            judge((law.transform, weights, p, noises))  # pyright: ignore[reportArgumentType]
