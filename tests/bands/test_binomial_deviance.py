import mpmath
import numpy as np
import pytest

from mipsim.bands import deviance


def exact(count: int, games: int, p: float, q: float) -> float:
    x, n = mpmath.mpf(count), mpmath.mpf(games)
    hit = x * mpmath.log(x / (n * mpmath.mpf(p))) if count else mpmath.mpf(0)
    miss = (n - x) * mpmath.log((n - x) / (n * mpmath.mpf(q))) if count < games else mpmath.mpf(0)
    return float(2 * (hit + miss))


@pytest.mark.parametrize("games", [10, 10**4, 10**9])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("p", [1e-12, 0.1, 0.5, 0.999])
def test_it_agrees_with_sixty_digits(games: int, share: float, p: float) -> None:
    count = round(share * games)
    # The two terms cancel: an error of some roundings of n is left.
    assert float(deviance(count, games, p)) == pytest.approx(
        exact(count, games, p, 1 - p), rel=1e-9, abs=1e-15 * games
    )


def test_the_ends_are_safe() -> None:
    far = np.inf
    assert deviance([0, 10, 0, 10, 5, 5], 10, [0, 1, 1, 0, 0, 1]).tolist() == [0, 0, far, far, far, far]
