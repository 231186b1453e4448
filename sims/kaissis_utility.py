"""Accuracy of ResNet-9 trained by DP-SGD, with the noise of the DPTM and with that of the relaxed threat model: Kaissis et al. (2023), figure 4a."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from scipy.special import erf, ndtr

import mipsim as mi
from mipsim import data
from mipsim.tradeoff import MixtureTradeOff, SampledTradeOff
from sims.gradients import SEED
from sims.kept_values import kept
from sims.leemann_utility import halved

EPSILON, DELTA = 1.0, 1e-5
SEEDS = 5
ARMS = ("DPTM", "RTM")


@dataclass(frozen=True)
class Scale:
    """What is trained.

    Attributes:
        widths: of ResNet-9.
        halvings: of the images, which are 32 x 32.
        records: of the training set, N.
        tested: of the test set.
        batch: expected size of a Poisson batch.
        epochs: of N // batch steps.
        rate: of Adam, which sees clipped and noisy gradients only, so that the guarantee is that of DP-SGD.
        clip: of an example's gradient.
    """

    widths: tuple[int, ...]
    halvings: int
    records: int
    tested: int
    batch: int
    epochs: int
    rate: float
    clip: float = 1.0

    @property
    def steps(self) -> int:
        """Of a training."""
        return self.epochs * (self.records // self.batch)

    @property
    def sampling_rate(self) -> float:
        """The probability that a record takes part in a step."""
        return self.batch / self.records


SCALES = {
    "quick": Scale((8, 16, 32, 64), 1, 10_000, 10_000, 500, 4, 2e-3),
    "paper": Scale((8, 16, 32, 64), 1, 50_000, 10_000, 2_500, 5, 2e-3),
    "full": Scale((64, 128, 256, 512), 0, 50_000, 10_000, 4_096, 50, 2e-3),
}
"""Two cores finish the first in minutes and the second within an hour; the last is the paper's network, for a GPU."""


def relaxed_curve(noise_multiplier: float, sampling_rate: float, steps: int) -> mi.AbstractTradeOff:
    """The curve of `steps` Poisson-sampled Gaussian releases on the line whose attacker sees magnitudes: j_p, composed step by step.

    That is the direct composition of the tests, as the paper has it: the side to which a record shifts a release is unknown in each step anew.
    j is taken through 6,001 of its points, whose chords lie above it by less than 1e-6.

    Args:
        noise_multiplier: standard deviation of the noise over the clip, > 0.
        sampling_rate: p, in (0, 1].
        steps: >= 1.

    Source: Kaissis et al. (2023), corollary 1, lemma 9 and section 4; Dong, Roth & Su (2022), definition 3.1.

    Examples:
        >>> from mipsim.theory import kaissis
        >>> exact = kaissis.sampled_tradeoff(kaissis.FoldedGaussianTradeOff(0.5), 0.3)
        >>> bool(abs(relaxed_curve(2.0, 0.3, 1).beta(0.05) - exact.beta(0.05)) < 1e-6)
        True
    """
    mu, cut = 1.0 / noise_multiplier, np.linspace(14.0, 0.0, 6_001)
    alpha, complement = 2.0 * ndtr(-cut), erf(cut / np.sqrt(2.0))
    beta, tpr = ndtr(cut - mu) - ndtr(-cut - mu), ndtr(mu - cut) + ndtr(-mu - cut)
    ends = (
        np.append(first, rates)
        for first, rates in zip((0.0, 1.0, 1.0, 0.0), (alpha, complement, beta, tpr), strict=True)
    )
    return mi.compose(MixtureTradeOff(SampledTradeOff.from_points(*ends), sampling_rate), copies=steps)


@cache
def noises(
    sampling_rate: float, steps: int, epsilon: float = EPSILON, delta: float = DELTA
) -> dict[str, float]:
    """For each of `ARMS` the least noise multiplier at which the run is (epsilon, delta)-DP against that attacker, in both directions."""
    strong = mi.find_noise_multiplier_for_epsilon_delta(
        epsilon, delta, sampling_rate=sampling_rate, steps=steps
    )
    # No more than the other attacker needs; much less than a fourth of it is no mechanism.
    weak = mi.calibrate(
        lambda noise: relaxed_curve(noise, sampling_rate, steps),
        epsilon=epsilon,
        delta=delta,
        least=0.25 * strong,
        most=1.01 * strong,
    )
    return dict(zip(ARMS, (strong, weak), strict=True))


def promised_epsilon(
    noise_multiplier: float, sampling_rate: float, steps: int, delta: float = DELTA
) -> float:
    """The epsilon at delta that this noise keeps against the attacker of the DPTM, from above."""
    curve = mi.dpsgd(noise_multiplier, sampling_rate, steps)
    lower = curve.lower if isinstance(curve, mi.BoundedTradeOff) else curve
    return max(float(one.epsilon(delta)) for one in (lower, lower.inverse()))


Images = Callable[[Scale], tuple[data.DataSet, data.DataSet]]


def cifar(scale: Scale) -> tuple[data.DataSet, data.DataSet]:
    """(training records, test records) of CIFAR-10 at that scale, halved and standardised. Raises `DataError` where the data are missing."""
    train, test = data.cifar10(), data.cifar10("test")
    order = np.random.default_rng(SEED).permutation(len(train))[: scale.records]
    x, tested = train.x[order], test.x[: scale.tested]
    for _ in range(scale.halvings):
        x, tested = halved(x), halved(tested)
    # The channels' means and deviations are thought public, as is usual.
    mean, deviation = x.mean(axis=(0, 1, 2)), x.std(axis=(0, 1, 2))
    return (
        data.DataSet((x - mean) / deviation, train.y[order], train.classes),
        data.DataSet((tested - mean) / deviation, test.y[: scale.tested], test.classes),
    )


def accuracy(
    name: str, noise: float, seed: int, store: Path, images: Images = cifar, scales: dict[str, Scale] = SCALES
) -> float:
    """Test accuracy of ResNet-9 after DP-SGD with that noise: trained, gone on with, or read from the folder.

    Args:
        name: of the scale.
        noise: the noise multiplier.
        seed: of the start, the batches and the noise.
        store: a folder that keeps what was found, and the state of a training after each epoch.
        images: the data at a scale.
        scales: by name.
    """
    scale = scales[name]
    file = store / f"kaissis_fig4_{name}_{noise:.6f}_{seed}"
    settings = {**asdict(scale), "noise": noise, "seed": seed}
    return float(
        kept(
            file.with_name(f"{file.name}.json"), settings, partial(_trained, scale, noise, seed, file, images)
        )
    )


def _trained(scale: Scale, noise: float, seed: int, file: Path, images: Images) -> np.ndarray:
    from mipsim import nn

    train, test = images(scale)
    network = nn.residual(train.x.shape[1:], scale.widths, len(train.classes))
    learned = nn.train(
        network,
        train.x,
        train.y,
        epochs=scale.epochs,
        rate=scale.rate,
        batch=scale.batch,
        optimiser="adam",
        sampling="poisson",
        clip=scale.clip,
        noise_multiplier=noise,
        seed=seed,
        checkpoint=file.with_name(f"{file.name}.npz"),
    )
    seen = nn.features(network, learned, test.x)
    head = nn.linear(seen.shape[1:], len(train.classes))
    logits = head.apply(head.with_flat(head.start(0), network.flat(learned, "last")), jnp.asarray(seen))
    return np.mean(np.asarray(logits).argmax(axis=1) == test.y)
