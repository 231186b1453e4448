from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim.tradeoff import GaussianTradeOff


@pytest.mark.parametrize("mu", [2, 2.0, np.float32(2.0), np.array(2.0), jnp.asarray(2.0)])
def test_mu_may_be_any_real_scalar(mu: object) -> None:
    claim = GaussianTradeOff(mu)  # type: ignore[arg-type]
    assert claim.mu == 2.0
    assert type(claim.mu) is float
    assert str(claim) == "GaussianTradeOff(mu=2.0)"


@pytest.mark.parametrize("seed", range(10))
def test_a_composition_holds_its_mu_in_rational_numbers(seed: int):
    """The sum of squares is exact: many small terms are not lost beside a large term, and the root is known to its rounding."""
    rng = np.random.default_rng(seed)
    mus = [1.0, *(1e-8 * rng.uniform(1.0, 2.0, 1000)).tolist()] if seed < 3 else rng.uniform(0, 3, 5).tolist()
    counts = [1] * len(mus) if seed < 3 else rng.integers(1, 1000, 5).tolist()
    square = sum(n * Fraction(mu) ** 2 for mu, n in zip(mus, counts, strict=True))
    curve = mi.compose(*map(mi.GaussianTradeOff, mus), copies=counts)
    nested = mi.compose(curve, mi.GaussianTradeOff(mus[1]))
    for item, true in ((curve, square), (nested, square + Fraction(mus[1]) ** 2)):
        low, high = item.least_mu_bounds()
        assert Fraction(low) ** 2 <= true <= Fraction(high) ** 2
        assert high - low < 1e-14 * high


@pytest.mark.parametrize(("noise", "steps"), [(3.0, 1), (0.1, 7), (1.7, 1000), (2.0, 16)])
@pytest.mark.parametrize("neighbours", ["remove", "replace"])
def test_the_mu_of_gaussian_steps_is_known_to_its_rounding(noise: float, steps: int, neighbours: str):
    sampling = "fixed_size" if neighbours == "replace" else "poisson"
    low, high = mi.dpsgd(noise, 1.0, steps, neighbours=neighbours, sampling=sampling).least_mu_bounds()
    true = steps * ((2 if neighbours == "replace" else 1) / Fraction(noise)) ** 2
    assert Fraction(low) ** 2 <= true <= Fraction(high) ** 2
    assert (low == high) is (noise == 2.0)
