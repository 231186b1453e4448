"""Accuracy of networks trained by DP-SGD, with the noise of the DPTM and with that of the relaxed threat model: Kaissis et al. (2023), figure 4."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Literal

import jax.numpy as jnp
import numpy as np
from scipy.special import erf, ndtr

import mipsim as mi
from mipsim import data
from mipsim.data.files import lacking
from mipsim.data.published import PUBLISHED
from mipsim.tradeoff import MixtureTradeOff, SampledTradeOff
from sims.gradients import SEED
from sims.leemann_utility import halved
from sims.stored_values import stored

SEEDS = 5
_READING = Lock()
ARMS = ("DPTM", "RTM")


@dataclass(frozen=True)
class Scale:
    """What is trained."""

    widths: tuple[int, ...]  # of the network
    halvings: int  # of the images, which are 32 x 32; 0 where there are none
    records: int  # of the training set, N
    tested: int  # of the test set
    batch: int  # expected size of a Poisson batch
    epochs: int  # of N // batch steps
    # of Adam, which sees clipped and noisy gradients only, so that the guarantee is that of DP-SGD
    rate: float
    clip: float = 1.0  # of an example's gradient
    views: int = 0  # random views of each image in a step, 0 = the image as it is

    @property
    def steps(self) -> int:
        """Of a training."""
        return self.epochs * (self.records // self.batch)

    @property
    def sampling_rate(self) -> float:
        """The probability that a record takes part in a step."""
        return self.batch / self.records


Records = Callable[[Scale], tuple[data.DataSet, data.DataSet]]
"""Scale -> (training records, test records)."""


@dataclass(frozen=True)
class Task:
    """A panel of the figure."""

    title: str  # of the data
    papers: str  # the network of the paper
    # of ours, a function of `mipsim.nn` that takes (shape of an input, widths, classes)
    network: Literal["residual", "layered"]
    # epsilon, delta: the promise
    epsilon: float
    delta: float
    reported: tuple[float, float]  # the paper's accuracies, of `ARMS`
    records: Records  # the data
    scales: dict[str, Scale]  # by name
    stem: str  # what the names of stored files begin with
    # the data set, by its name in `mipsim.data`, without which the figure is plotted nevertheless; None where it is not
    needs: str | None = None

    def lacking(self) -> tuple[str, ...]:
        """The names of the files that keep the figure from showing this panel."""
        return lacking(PUBLISHED[self.needs]) if self.needs else ()


def relaxed_curve(noise_multiplier: float, sampling_rate: float, steps: int) -> mi.AbstractTradeOff:
    """The curve of `steps` Poisson-sampled Gaussian releases on the line whose attacker sees magnitudes: j_p, composed step by step.

    That is the direct composition of the tests, as the paper has it: the side to which a record shifts a release is unknown in each step anew.
    j is taken through 6,001 of its points, whose chords lie above it by less than 1e-6.

    `noise_multiplier`: standard deviation of the noise over the clip, > 0; `sampling_rate`: p, in (0, 1]; `steps`: >= 1.

    Source: Kaissis et al. (2023), corollary 1, lemma 9 and section 4; Dong, Roth & Su (2022), definition 3.1.

    >>> from mipsim.theory import kaissis
    >>> exact = MixtureTradeOff(kaissis.FoldedGaussianTradeOff(0.5), 0.3)
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
def noises(sampling_rate: float, steps: int, epsilon: float, delta: float) -> dict[str, float]:
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


def promised_epsilon(noise_multiplier: float, sampling_rate: float, steps: int, delta: float) -> float:
    """The epsilon at delta that this noise keeps against the attacker of the DPTM, from above."""
    curve = mi.dpsgd(noise_multiplier, sampling_rate, steps, neighbours="remove")
    forward, other = float(curve.epsilon(delta)), curve.inverse()
    with warnings.catch_warnings():  # an upper bound is enough to see that the other direction leaks less
        warnings.simplefilter("ignore", UserWarning)
        less = float(other.delta(forward)) <= delta
    return forward if less else float(other.epsilon(delta))


def cifar(scale: Scale) -> tuple[data.DataSet, data.DataSet]:
    """(training records, test records) of CIFAR-10 at that scale, halved and standardised. Raises `DataError` where the data are missing."""
    train, test = data.cifar10(), data.cifar10("test")
    order = np.random.default_rng(SEED).permutation(len(train))[: scale.records]
    some = data.DataSet(train.x[order], train.y[order], train.classes)
    return _prepared(some, data.DataSet(test.x[: scale.tested], test.y[: scale.tested], test.classes), scale)


def _prepared(train: data.DataSet, test: data.DataSet, scale: Scale) -> tuple[data.DataSet, data.DataSet]:
    """Images halved and standardised."""
    x, tested = train.x, test.x
    for _ in range(scale.halvings):
        x, tested = halved(x), halved(tested)
    # The channels' means and deviations are thought public, as is usual.
    mean, deviation = x.mean(axis=(0, 1, 2)), x.std(axis=(0, 1, 2))
    return (
        data.DataSet((x - mean) / deviation, train.y, train.classes),
        data.DataSet((tested - mean) / deviation, test.y, test.classes),
    )


@lru_cache(maxsize=1)  # gigabytes to check and to read, for ten trainings
def images(scale: Scale) -> tuple[data.DataSet, data.DataSet]:
    """(training records, test records) of ImageNet at that scale, as `cifar` those of CIFAR-10. Raises `DataError` where the data are missing."""
    train = data.imagenet(records=scale.records)
    return _prepared(train, data.imagenet("test", records=scale.tested), scale)


@lru_cache(maxsize=1)
def pairs(scale: Scale) -> tuple[data.DataSet, data.DataSet]:
    """(training records, test records) of SNLI at that scale, hashed words. Raises `DataError` where the data are missing."""
    return data.snli(records=scale.records), data.snli("test", records=scale.tested)


_STANDARD = Scale((8, 16, 32, 64), 1, 50_000, 10_000, 2_500, 5, 2e-3)
VARIANTS = {
    "longer": replace(_STANDARD, epochs=10),
    "wider": replace(_STANDARD, widths=(16, 32, 64, 128)),
    "sharper": replace(_STANDARD, halvings=0),
    "augmented": replace(_STANDARD, views=4),
}
"""Scale standard of CIFAR-10 with a single change each, for what the distance to the paper is due to."""

TASKS = {
    "a": Task(
        "CIFAR-10",
        "ResNet-9",
        "residual",
        1.0,
        1e-5,
        (0.67, 0.81),
        cifar,
        {
            "quick": Scale((8, 16, 32, 64), 1, 10_000, 10_000, 500, 4, 2e-3),
            "standard": _STANDARD,
            "full": Scale((64, 128, 256, 512), 0, 50_000, 10_000, 4_096, 50, 2e-3),
            **VARIANTS,
        },
        "kaissis_fig4",
    ),
    "b": Task(
        "SNLI",
        "BERT",
        "layered",
        1.0,
        1.8e-6,
        (0.78, 0.80),
        pairs,
        {
            "quick": Scale((32,), 0, 10_000, 9_824, 500, 4, 2e-3),
            "standard": Scale((64,), 0, 100_000, 9_824, 5_000, 5, 2e-3),
            "full": Scale((256, 64), 0, 549_367, 9_824, 8_192, 20, 2e-3),
        },
        "kaissis_fig4_snli",
        "snli",
    ),
    "c": Task(
        "ImageNet",
        "ResNet-18",
        "residual",
        10.0,
        1e-6,
        (0.46, 0.48),
        images,
        {
            "quick": Scale((8, 16, 32, 64), 1, 10_000, 10_000, 500, 4, 2e-3),
            "standard": Scale((8, 16, 32, 64), 1, 50_000, 10_000, 2_500, 5, 2e-3),
            "full": Scale((64, 128, 256, 512), 0, 1_281_167, 50_000, 16_384, 50, 2e-3),
        },
        "kaissis_fig4_imagenet",
        "imagenet32",
    ),
}
"""Panel -> task. Two cores finish panel a at the first scale in minutes and at the second, variants included, within an hour; "full" is for a GPU. Of the first
scale, trainings of c on random images took about as long as those of a, those of b on random numbers less."""


def needed(task: Task, name: str) -> dict[str, float]:
    """The noise multiplier of each of `ARMS` at a scale of that name."""
    scale = task.scales[name]
    return noises(scale.sampling_rate, scale.steps, task.epsilon, task.delta)


def accuracy(task: Task, name: str, noise: float, seed: int, store: Path) -> float:
    """Test accuracy of the task's network after DP-SGD with that noise: trained, gone on with, or read from the folder.
    `name`: of the scale; `noise`: the noise multiplier; `seed`: of the start, the batches and the noise; `store`: a
    folder that stores results, and the state of a training after each epoch.
    """
    scale = task.scales[name]
    file = store / f"{task.stem}_{name}_{noise:.6f}_{seed}"
    settings = {**asdict(scale), "noise": noise, "seed": seed}
    return float(
        stored(
            file.with_name(f"{file.name}.json"), settings, partial(_trained, task, scale, noise, seed, file)
        )
    )


def _trained(task: Task, scale: Scale, noise: float, seed: int, file: Path) -> np.ndarray:
    from mipsim import nn

    with _READING:  # gigabytes: of two threads the second takes what the first has read
        train, test = task.records(scale)
    network = getattr(nn, task.network)(train.x.shape[1:], scale.widths, len(train.classes))
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
        views=scale.views,
        seed=seed,
        checkpoint=file.with_name(f"{file.name}.npz"),
    )
    seen = nn.features(network, learned, test.x)
    head = nn.linear(seen.shape[1:], len(train.classes))
    logits = head.apply(head.with_flat(head.start(0), network.flat(learned, "last")), jnp.asarray(seen))
    return np.mean(np.asarray(logits).argmax(axis=1) == test.y)
