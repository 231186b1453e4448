"""Steps of DP-SGD, and the noise that they need, by the names that users of riskcal know."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Never

from mipsim._validation import choice, number, whole
from mipsim._words import plural, quoted
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.calibration import calibrate
from mipsim.tradeoff.compose import MOST_STEPS, compose
from mipsim.tradeoff.epochs import SQUARABLE
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.gaussian_mixture import GaussianMixtureTradeOff
from mipsim.tradeoff.laplace import LaplaceTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.schemes import NEIGHBOURS, SCHEMES, Scheme, proven_neighbours

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from mipsim.tradeoff.schemes import Parts, Release

_LEAST_RATE = 1e-100  # below it the losses of a step have too few digits
_LEAST_LOG = 290.0 * math.log(10.0)
NOISES = (1e-3, 1e9)  # where records are sampled in each step


def dpsgd(
    noise_multiplier: float,
    sampling_rate: float = 1.0,
    steps: int = 1,
    *,
    neighbours: str = "add_or_remove",
    sampling: str = "poisson",
    group: int = 1,
) -> AbstractTradeOff:
    """The curve of `steps` Gaussian releases, each of a sample of the records; by default of a record added or removed.

    The default is the convention of `mipsim.account`, of `find_noise_multiplier_for_...`, and of most accountants. A curve of steps
    prints its convention as `direction`: "both" for "add_or_remove", "forward" for "remove", "inverse" for "add".

    - Poisson sampling: the world "out" is N(0, s^2) in each step, the world "in" p N(1, s^2) + (1 - p) N(0, s^2), and
      `neighbours="remove"` has "out" as null, "add" has "in" as null. "add_or_remove" is the worse of both after
      composition, not the composition of the worse. To "replace" a record, it is p N(-1, s^2) + (1 - p) N(0, s^2) in "out". Of a `group` of k
      records, Binomial(k, p) of them take part: a mixture of N(j, s^2), j = 0 to k. `mipsim.GaussianMixtureTradeOff` has the proof.
    - Samples of a fixed size without replacement (`sampling="fixed_size"`): a sample with the target has it in the place of another
      record, so that p N(2, s^2) + (1 - p) N(0, s^2) is "in". To "replace" a record, each step has that curve, symmetrised.
    - Random allocation, or balls in bins: of the 1 / p steps of each epoch a record takes part in a single step, sampled uniformly. See
      `mipsim.random_allocation` for what is assumed and proven.
    - Shuffled batches: each record takes part in a single step of each epoch of 1 / p steps, and "remove" puts a record of zeros in its
      place. Only bounds of the worst case are known, which may be far apart: see `mipsim.tradeoff.shuffled.shuffled`.

    Args:
        noise_multiplier: the standard deviation s of the noise over the clipping norm, in [1e-100, 1e100]; where 0 < p < 1 in [1e-3, 1e9], and
            for random allocation in [1/30, 1e4].
        sampling_rate: p, the probability that a record takes part in a step, in [0, 1]; of a fixed size, size over records.
        steps: from 1 to 10^9; whole epochs where a record takes part once in each.
        neighbours: "add_or_remove", "remove", "add" or "replace".
        sampling: how a step samples records: "poisson", or another row of `mipsim.tradeoff.schemes.SCHEMES`; a wrong name is answered with all.
        group: how many records are removed, added or replaced together; above 1 with "poisson" alone.

    Returns:
        A `GaussianTradeOff` when all records take part, else a `ComposedTradeOff` (a single step: a curve in closed form), or a
        `BoundedTradeOff` for shuffled batches and a single epoch of random allocation.

    Raises:
        ValueError: if an argument is outside its range, or no pair of laws is proven to dominate these neighbours under
            this sampling.

    Source: Zhu, Dong and Wang (2022), "Optimal accounting of differential privacy via characteristic function", theorem 11,
    for a record added or removed; that of `mipsim.GaussianMixtureTradeOff` for groups, for a record replaced, and for a removal in samples of
    fixed size; Dong, Roth and Su (2022), theorem 4.2, for a replacement in them; Lebeda et al. (2024), "Avoiding pitfalls for
    privacy accounting of subsampled mechanisms under composition", for what may not be composed.

    Examples:
        >>> dpsgd(2.0, steps=16)
        GaussianTradeOff(mu=2.0)
        >>> ways = [dpsgd(1.0, 0.1, 5, neighbours=how).delta(1.0) for how in ("remove", "add", "add_or_remove")]
        >>> [round(delta, 6) for delta in ways]
        [0.002092, 0.0, 0.002092]
        >>> balls_in_bins = dpsgd(1.0, 0.1, 10, sampling="random_allocation")
        >>> [round(bound, 3) for bound in balls_in_bins.delta_bounds(0.5)]
        [0.027, 0.027]
    """
    sigma = number("noise_multiplier", noise_multiplier, *SQUARABLE)
    p, count = _sampling(sampling_rate, steps)
    scheme, size = _proven(neighbours, sampling), _group(group, sampling, p)
    if scheme.epochs is not None:
        curve = scheme.epochs(sigma, *epochs_of(p, count, sampling), neighbours == "replace")
        return directed(curve, neighbours)
    if 0.0 < p < 1.0:  # tables of a composition would not fit beyond
        number("noise_multiplier", sigma, *NOISES)
    return _release(scheme, _gaussian(sigma), p, count, neighbours, size)


def epochs_of(p: float, steps: int, sampling: str) -> tuple[int, int]:
    """(steps of an epoch, epochs) of a sampling by epochs, or what is wrong with the rate or the steps.
    >>> epochs_of(0.1, 30, "shuffled")
    (10, 3)
    >>> epochs_of(0.1, 35, "shuffled")
    Traceback (most recent call last):
    ...
    ValueError: steps is 35; with sampling 'shuffled' it must be a multiple of 10, the steps of an epoch
    """
    terms = round(1.0 / p) if p > 1e-300 else 0  # below it 1 / p may be no float64
    if abs(terms * p - 1.0) > 1e-9:
        raise ValueError(
            f"sampling_rate is {p:g}; with sampling {sampling!r} it must be 1 / T for epochs of T steps"
        )
    if steps % terms:
        raise ValueError(
            f"steps is {steps}; with sampling {sampling!r} it must be a multiple of {terms}, the steps of an epoch"
        )
    return terms, steps // terms


def _proven(neighbours: str, sampling: str) -> Scheme:
    choice("neighbours", neighbours, NEIGHBOURS)
    scheme = SCHEMES[choice("sampling", sampling, tuple(SCHEMES))]
    proven_neighbours(neighbours, scheme.neighbours, f"sampling {sampling!r}")
    return scheme


def _group(group: int, sampling: str, p: float) -> int:
    size = whole("group", group, 1)
    if size > 1 and not SCHEMES[sampling].groups:
        able = " and ".join(repr(name) for name, item in SCHEMES.items() if item.groups)
        raise ValueError(
            f"group is {size} with sampling {sampling!r}; groups are proven for {able}, else a single record"
        )
    if size > 1 and min(p, 1.0 - p) > 0.0 and size * math.log(1.0 / min(p, 1.0 - p)) > _LEAST_LOG:
        raise ValueError(
            f"group is {size}; that all or none of them take part must have a probability of at least 1e-290"
        )
    return size


def _release(
    scheme: Scheme, release: Release, p: float, count: int, neighbours: str, group: int = 1
) -> AbstractTradeOff:
    assert scheme.step is not None
    if p == 0.0:
        return GaussianTradeOff(0.0)
    return directed(compose(scheme.step(release, p, neighbours, group), copies=count), neighbours)


def _gaussian(scale: float) -> Release:
    """The curve of what both worlds add to a sum with Gaussian noise of this scale."""

    def release(inside: Parts, out: Parts) -> AbstractTradeOff:
        parts = tuple(inside), tuple(inside.values()), scale, tuple(out), tuple(out.values())
        return GaussianMixtureTradeOff(*parts).simplest()

    return release


def _laplace(scale: float) -> Release:
    """Of a shift under Laplace noise, whose ratio is rounded up: a larger ratio is less private."""

    def release(inside: Parts, out: Parts) -> AbstractTradeOff:
        shift = max(inside)
        if len(out) > 1 or len(inside) > 2:
            raise ValueError(
                "noise is 'laplace'; with samples of which a record is replaced by another, proven is sampling 'fixed_size'"
            )
        full = LaplaceTradeOff(math.nextafter(shift / scale, math.inf))
        return full if inside[shift] == 1.0 else MixtureTradeOff(full, inside[shift])

    return release


def directed(curve: AbstractTradeOff, neighbours: str) -> AbstractTradeOff:
    """Of a curve of which "out" is the null."""
    if neighbours == "add":
        return curve.inverse()
    return curve.symmetrized() if neighbours == "add_or_remove" else curve


def _sampling(sampling_rate: float, steps: int) -> tuple[float, int]:
    p = number("sampling_rate", sampling_rate, 0.0, 1.0)
    if 0.0 < p < _LEAST_RATE:
        raise ValueError(f"sampling_rate is {p:g}; it must be 0 or in [{_LEAST_RATE:g}, 1]")
    return p, whole("steps", steps, 1, MOST_STEPS)


def _least_noise(
    unnamed: tuple[object, ...],
    noise: str,
    sampling_rate: float,
    steps: int,
    neighbours: str,
    sampling: str,
    **target: float,
) -> float:
    if unnamed:
        names = ("sampling_rate", "steps", "noise", "neighbours", "sampling")
        given = ", ".join(f"{name}={quoted(value)}" for name, value in zip(names, unnamed, strict=False))
        raise TypeError(f"{plural(len(unnamed), 'argument')} beyond the target without a name; write {given}")
    choice("noise", noise, ("gaussian", "laplace"))
    p, count = _sampling(sampling_rate, steps)
    scheme = _proven(neighbours, sampling)
    if scheme.step is None:
        able = " and ".join(name for name, item in SCHEMES.items() if item.step is not None)
        raise ValueError(f"sampling is {sampling!r}; noise is computed for {able} alone")
    if p == 0.0:
        raise ValueError(
            "sampling_rate is 0; a record that never takes part needs no noise, so it must be above 0"
        )
    # the worlds differ where the record takes part, with at most that probability: enough for some targets
    if count * p < 1.0:
        rare = ApproxDPTradeOff(0.0, min(count * p * (1.0 + 1e-9), 1.0))
        with suppress(ValueError):  # whether of this curve or of an argument, it is raised below
            return calibrate(lambda _: rare, both_directions=False, **target)
    release = _gaussian if noise == "gaussian" else _laplace
    both = neighbours == "add_or_remove"
    way = "remove" if both else neighbours
    return calibrate(
        lambda scale: _release(scheme, release(scale), p, count, way), both_directions=both, **target
    )


def find_noise_multiplier_for_advantage(
    advantage: float,
    *unnamed: Never,
    sampling_rate: float = 1.0,
    steps: int = 1,
    noise: str = "gaussian",
    neighbours: str = "add_or_remove",
    sampling: str = "poisson",
) -> float:
    """The least noise for which no attack's TPR - FPR exceeds `advantage`; see `calibrate`.

    Args:
        advantage: in (0, 1).
        sampling_rate: probability that a record takes part in a step, in (0, 1].
        steps: releases, >= 1.
        noise: "gaussian" (standard deviation over sensitivity) or "laplace" (scale over sensitivity).
        neighbours: as of `dpsgd`; the sensitivity is that of a record added or removed.
        sampling: as of `dpsgd`.
        *unnamed: none; the error for others without a name shows how to name them.

    Raises:
        TypeError: if more than the target is given without its name.
        ValueError: if an argument is outside its range, or no noise reaches the target.

    Examples:
        >>> round(find_noise_multiplier_for_advantage(0.382924922548), 6)  # 2 Phi(1/2) - 1
        1.0
        >>> find = find_noise_multiplier_for_advantage
        >>> round(find(0.382924922548, neighbours="replace", sampling="fixed_size"), 6)  # twice the shift
        2.0
    """
    return _least_noise(unnamed, noise, sampling_rate, steps, neighbours, sampling, advantage=advantage)


def find_noise_multiplier_for_mu(
    mu: float,
    *unnamed: Never,
    sampling_rate: float = 1.0,
    steps: int = 1,
    noise: str = "gaussian",
    neighbours: str = "add_or_remove",
    sampling: str = "poisson",
) -> float:
    """The least noise for which the mechanism is `mu`-GDP, mu > 0.

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_mu(0.5, steps=4), 6)
        4.0
    """
    return _least_noise(unnamed, noise, sampling_rate, steps, neighbours, sampling, mu=mu)


def find_noise_multiplier_for_tpr_at_fpr(
    tpr: float,
    fpr: float,
    *unnamed: Never,
    sampling_rate: float = 1.0,
    steps: int = 1,
    noise: str = "gaussian",
    neighbours: str = "add_or_remove",
    sampling: str = "poisson",
) -> float:
    """The least noise for which no attack has a TPR above `tpr` at this `fpr`, 0 < fpr < tpr < 1.

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_tpr_at_fpr(0.1, 0.01), 6)
        0.957124
    """
    return _least_noise(unnamed, noise, sampling_rate, steps, neighbours, sampling, tpr=tpr, fpr=fpr)


def find_noise_multiplier_for_err_rates(
    alpha: float,
    beta: float,
    *unnamed: Never,
    sampling_rate: float = 1.0,
    steps: int = 1,
    noise: str = "gaussian",
    neighbours: str = "add_or_remove",
    sampling: str = "poisson",
) -> float:
    """The least noise for which no attack of FPR `alpha` has an FNR below `beta`, with alpha + beta < 1.

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_err_rates(0.01, 0.9), 6)
        0.957124
    """
    a = number("alpha", alpha, 0.0, 1.0, low_open=True, high_open=True)
    b = number("beta", beta, 0.0, 1.0 - a, low_open=True, high_open=True)
    return _least_noise(unnamed, noise, sampling_rate, steps, neighbours, sampling, tpr=1.0 - b, fpr=a)


def find_noise_multiplier_for_epsilon_delta(
    epsilon: float,
    delta: float,
    *unnamed: Never,
    sampling_rate: float = 1.0,
    steps: int = 1,
    noise: str = "gaussian",
    neighbours: str = "add_or_remove",
    sampling: str = "poisson",
) -> float:
    """The least noise for which the mechanism is (epsilon, delta)-DP, epsilon >= 0 and delta in [0, 1).

    The other arguments and errors are those of `find_noise_multiplier_for_advantage`.

    Examples:
        >>> round(find_noise_multiplier_for_epsilon_delta(2.0, 0.0, noise="laplace"), 6)
        0.5
    """
    return _least_noise(
        unnamed, noise, sampling_rate, steps, neighbours, sampling, epsilon=epsilon, delta=delta
    )
