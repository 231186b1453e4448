"""Steps of DP-SGD, and the noise that they need, by the names that users of riskcal know."""

from __future__ import annotations

from collections.abc import Callable

from mipsim._validation import by_our_names, number, one_of, whole
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.calibration import calibrate
from mipsim.tradeoff.compose import compose
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.laplace import LaplaceTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff


@by_our_names
def dpsgd(noise_multiplier: float, sampling_rate: float = 1.0, steps: int = 1) -> AbstractTradeOff:
    """The curve of `steps` Gaussian releases, each of a Poisson sample of the records, with the world "out" as null.

    The null is N(0, s^2) in each step, the other world p N(1, s^2) + (1 - p) N(0, s^2). `.symmetrized()` is the curve
    of both directions.

    Args:
        noise_multiplier: the standard deviation s of the noise over the clipping norm, > 0.
        sampling_rate: p, the probability that a record takes part in a step, in [0, 1].
        steps: >= 1.

    Returns:
        A `GaussianTradeOff` when all records take part, else a `BoundedTradeOff` (one step: a `MixtureTradeOff`).

    Source: Abadi et al. (2016), "Deep learning with differential privacy"; Dong, Roth and Su (2022), section 5.

    Examples:
        >>> dpsgd(2.0, steps=16)
        GaussianTradeOff(mu=2.0)
    """
    sigma = number("noise_multiplier", noise_multiplier, 0.0, low_open=True)
    return _steps(GaussianTradeOff(1.0 / sigma), *_sampling(sampling_rate, steps))


def _sampling(sampling_rate: float, steps: int) -> tuple[float, int]:
    return number("sampling_rate", sampling_rate, 0.0, 1.0), whole("steps", steps, 1)


def _steps(shift: AbstractTradeOff, p: float, count: int) -> AbstractTradeOff:
    if p == 0.0:
        return GaussianTradeOff(0.0)
    return compose(shift if p == 1.0 else MixtureTradeOff(shift, p), copies=count)


def _mechanism(noise: str, sampling_rate: float, steps: int) -> Callable[[float], AbstractTradeOff]:
    one_of("noise", noise, ("gaussian", "laplace"))
    p, count = _sampling(sampling_rate, steps)
    if p == 0.0:
        raise ValueError(
            "sampling_rate is 0; a record that never takes part needs no noise, so it must be above 0"
        )
    shift = GaussianTradeOff if noise == "gaussian" else LaplaceTradeOff
    return lambda scale: _steps(shift(1.0 / scale), p, count)


@by_our_names
def find_noise_multiplier_for_advantage(
    advantage: float, *, sampling_rate: float = 1.0, steps: int = 1, noise: str = "gaussian"
) -> float:
    """The least noise for which no attack's TPR - FPR exceeds `advantage`; see `calibrate`.

    Args:
        advantage: in (0, 1).
        sampling_rate: probability that a record takes part in a step, in (0, 1].
        steps: releases, >= 1.
        noise: "gaussian" (standard deviation over sensitivity) or "laplace" (scale over sensitivity).

    Raises:
        ValueError: if an argument is outside its range, or no noise reaches the target.

    Examples:
        >>> round(find_noise_multiplier_for_advantage(0.382924922548), 6)  # 2 Phi(1/2) - 1
        1.0
    """
    return calibrate(_mechanism(noise, sampling_rate, steps), advantage=advantage)


@by_our_names
def find_noise_multiplier_for_eta(
    eta: float, *, sampling_rate: float = 1.0, steps: int = 1, noise: str = "gaussian"
) -> float:
    """The least noise for which no attack guesses the world with probability above 1/2 + `eta`; in (0, 1/2).

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_eta(0.191462461274), 6)
        1.0
    """
    return calibrate(_mechanism(noise, sampling_rate, steps), eta=eta)


@by_our_names
def find_noise_multiplier_for_mu(
    mu: float, *, sampling_rate: float = 1.0, steps: int = 1, noise: str = "gaussian"
) -> float:
    """The least noise for which the mechanism is `mu`-GDP, mu > 0.

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_mu(0.5, steps=4), 6)
        4.0
    """
    return calibrate(_mechanism(noise, sampling_rate, steps), mu=mu)


@by_our_names
def find_noise_multiplier_for_tpr_at_fpr(
    tpr: float, fpr: float, *, sampling_rate: float = 1.0, steps: int = 1, noise: str = "gaussian"
) -> float:
    """The least noise for which no attack has a TPR above `tpr` at this `fpr`, 0 < fpr < tpr < 1.

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_tpr_at_fpr(0.1, 0.01), 6)
        0.957124
    """
    return calibrate(_mechanism(noise, sampling_rate, steps), tpr=tpr, fpr=fpr)


@by_our_names
def find_noise_multiplier_for_err_rates(
    alpha: float, beta: float, *, sampling_rate: float = 1.0, steps: int = 1, noise: str = "gaussian"
) -> float:
    """The least noise for which no attack of FPR `alpha` has an FNR below `beta`, with alpha + beta < 1.

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_err_rates(0.01, 0.9), 6)
        0.957124
    """
    a = number("alpha", alpha, 0.0, 1.0, low_open=True, high_open=True)
    b = number("beta", beta, 0.0, 1.0 - a, low_open=True, high_open=True)
    return find_noise_multiplier_for_tpr_at_fpr(
        1.0 - b, a, sampling_rate=sampling_rate, steps=steps, noise=noise
    )


@by_our_names
def find_noise_multiplier_for_epsilon_delta(
    epsilon: float, delta: float, *, sampling_rate: float = 1.0, steps: int = 1, noise: str = "gaussian"
) -> float:
    """The least noise for which the mechanism is (epsilon, delta)-DP, epsilon >= 0 and delta in [0, 1).

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_epsilon_delta(2.0, 0.0, noise="laplace"), 6)
        0.5
    """
    return calibrate(_mechanism(noise, sampling_rate, steps), epsilon=epsilon, delta=delta)
