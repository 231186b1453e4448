"""Accuracy of last layers whose noise is calibrated by GMIP and by GDP: Leemann et al. (2023), figure 3 and table 5."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mipsim import data
from mipsim.theory import leemann
from sims.gradients import SEED
from sims.last_layer import LastLayer, accuracies
from sims.stored_values import stored

MUS = np.geomspace(0.4, 50.0, 20)
SEEDS = 5
SMALL_CLIP = 5.0
"""Below the norms of gradients, so that it clips: the printed bounds are far above all of them."""
ARMS = ("GMIP", "GMIP, equation 9", "GDP", "GDP, clip 5", "no noise")
"""The first takes the lesser of the noises of the second and the third: mu-GDP implies mu-GMIP (theorem 4.2)."""


class Run(NamedTuple):
    """A training run as the paper's appendix C.1 gives it."""

    d: int  # parameters that are trained
    clip: float  # the bound C on the norm of a gradient
    batch: int  # n
    records: int  # N
    # passes over them; a fraction where the number of steps is that of the paper and that of records is not
    epochs: float

    @property
    def steps(self) -> int:
        """T = epochs N / n."""
        return round(self.epochs * self.records / self.batch)


RUNS = {
    "CIFAR-10": Run(650, 500.0, 400, 48_000, 10),
    "Purchase": Run(2580, 2000.0, 795, 54_855, 3),
    "Adult": Run(1026, 800.0, 1000, 43_000, 20),
}
"""The paper's."""


def step_mu(mu: float, run: Run) -> float:
    """The mu_step at which equation 10 promises mu for the run, c = n sqrt(T) / N."""
    c = run.batch * sqrt(run.epochs * run.records / run.batch) / run.records
    return leemann.step_for_long_run_mu(mu, c)


def noises(run: Run, mu: float) -> tuple[float, float]:
    """(tau of mu-GMIP at K = d, tau of mu-GDP with replaced records) for the whole run."""
    step = step_mu(mu, run)
    gmip = leemann.noise_for_step_mu(step, run.d, run.batch, float(run.d), run.clip)
    return gmip, leemann.noise_for_dp(step, run.batch, run.clip)


class Task(NamedTuple):
    """A data set of the figure."""

    run: Run  # its training
    rate: float  # the step size, chosen by hand for training without noise; the paper states none
    # (seed, folder for what takes minutes) -> the layer and its features
    layer: Callable[[int, Path], LastLayer]


SPREAD = 2.5
"""Standard deviation of a column of Adult before the frozen layer: so wide that its tanh bends."""


def adult_layer(seed: int, _: Path) -> LastLayer:
    """512 frozen random tanh features, sampled by the seed, of 12 ordinal columns. Raises `DataError` where Adult is missing.

    The published halves are pooled, since N = 43,000 is more than the 32,561 rows to train; the other 5,842 rows are for test.
    """
    from mipsim import nn

    of = [data.adult(split) for split in ("train", "test")]
    x, y = np.concatenate([part.x for part in of]), np.concatenate([part.y for part in of])
    order = np.random.default_rng(SEED).permutation(len(y))
    n = RUNS["Adult"].records
    x, y = x[order], y[order]
    x = SPREAD * (x - x[:n].mean(axis=0)) / x[:n].std(axis=0)
    network = nn.random_features((x.shape[1],))
    seen = nn.features(network, network.start(seed), x)
    return LastLayer("Adult", seen[:n], y[:n], seen[n:], y[n:], 2)


FINE_TUNED = 20
LOCATION_WIDTHS = (256, 128)
_LOCATION = RUNS["Purchase"]._replace(records=3_000)
LOCATION = _LOCATION._replace(epochs=RUNS["Purchase"].steps * _LOCATION.batch / _LOCATION.records)
"""With the batch and the steps of Purchase on the records that Location-30 has of 20 classes."""


@cache
def location_layer(folder: Path) -> LastLayer:
    """Of a three-layer network trained on the ten rarest classes, on the twenty others. Raises `DataError` where the file is missing."""
    from mipsim import nn

    of = data.location30()
    by_size = np.argsort(np.bincount(of.y), kind="stable")
    rare, common = by_size[:-FINE_TUNED], by_size[-FINE_TUNED:]
    network = nn.layered((of.x.shape[1],), LOCATION_WIDTHS, len(rare))
    known = np.isin(of.y, rare)
    place = np.empty(len(by_size), np.int64)
    place[rare], place[common] = np.arange(len(rare)), np.arange(len(common))
    learned = nn.train(
        network,
        of.x[known],
        place[of.y[known]],
        epochs=20,
        rate=1e-3,
        seed=SEED,
        checkpoint=folder / "leemann_fig3_location_network.npz",
    )
    order = np.random.default_rng(SEED).permutation(np.flatnonzero(~known))
    seen, y = nn.features(network, learned, of.x[order]), place[of.y[order]]
    n = LOCATION.records
    return LastLayer("Location-30", seen[:n], y[:n], seen[n:], y[n:], FINE_TUNED)


CIFAR_WIDTHS = (8, 16, 32, 64)
CIFAR_KNOWN, CIFAR_EPOCHS = 7_000, 8


@cache
def cifar_layer(folder: Path) -> LastLayer:
    """Of a narrow ResNet-9 on images halved to 16 x 16, trained on 7,000 other records. Raises `DataError` where the data are missing.

    They are what 48,000 leaves of the records to train, and half of those to test; the other half is for test.
    """
    from mipsim import nn

    train, test = data.cifar10(), data.cifar10("test")
    x = halved(np.concatenate([train.x, test.x]))
    y = np.concatenate([train.y, test.y])
    n = RUNS["CIFAR-10"].records
    known, private, tested = np.arange(n, n + CIFAR_KNOWN), np.arange(n), np.arange(n + CIFAR_KNOWN, len(y))
    x = (x - x[known].mean(axis=(0, 1, 2))) / x[known].std(axis=(0, 1, 2))
    network = nn.residual(x.shape[1:], CIFAR_WIDTHS)
    learned = nn.train(
        network,
        np.concatenate([x[known], x[known][:, :, ::-1]]),
        np.tile(y[known], 2),
        epochs=CIFAR_EPOCHS,
        rate=2e-3,
        seed=SEED,
        checkpoint=folder / "leemann_fig3_cifar_network.npz",
    )
    seen = nn.features(network, learned, x)
    return LastLayer("CIFAR-10", seen[private], y[private], seen[tested], y[tested], len(train.classes))


def halved(images: np.ndarray) -> np.ndarray:
    """Means over blocks of 2 x 2 pixels.
    >>> print(halved(np.arange(8.0).reshape(1, 2, 4, 1))[0, :, :, 0])
    [[2.5 4.5]]
    """
    n, height, width, channels = images.shape
    return images.reshape(n, height // 2, 2, width // 2, 2, channels).mean(axis=(2, 4))


TASKS = {
    "Adult": Task(RUNS["Adult"], 0.05, adult_layer),
    "Location-30": Task(LOCATION, 0.5, lambda _, folder: location_layer(folder)),
    "CIFAR-10": Task(RUNS["CIFAR-10"], 0.02, lambda _, folder: cifar_layer(folder)),
}
"""Data set -> how its last layer is trained."""


def sweep(
    name: str, seed: int, store: Path, tasks: dict[str, Task] = TASKS, mus: np.ndarray = MUS
) -> np.ndarray:
    """Test accuracy for each of `ARMS` and each mu, shape (arms, mus): computed, or read where the folder has it.
    `seed`: of the layer, the order of the records and the noise; `store`: a folder that stores results, and networks;
    `tasks`: the data sets; `mus`: of the whole run.
    """
    run, rate, layer = tasks[name]
    both = np.array([noises(run, float(mu)) for mu in mus]).T
    small = [leemann.noise_for_dp(step_mu(float(mu), run), run.batch, SMALL_CLIP) for mu in mus]
    deviations = np.concatenate([both.min(axis=0), *both, small, [0.0]])
    clips = np.concatenate([np.full(3 * len(mus), run.clip), np.full(len(mus), SMALL_CLIP), [run.clip]])
    settings = {
        "data": name,
        "run": run._asdict(),
        "rate": rate,
        "seed": seed,
        "mus": mus.tolist(),
        "arms": ARMS,
    }
    result = stored(
        store / f"leemann_fig3_{name.lower()}_{seed}.json",
        settings,
        partial(_accuracies, layer, run, rate, seed, store, deviations, clips),
    )
    return np.concatenate([result[:-1].reshape(len(ARMS) - 1, -1), np.full((1, len(mus)), result[-1])])


def _accuracies(
    layer: Callable[[int, Path], LastLayer],
    run: Run,
    rate: float,
    seed: int,
    store: Path,
    deviations: np.ndarray,
    clips: np.ndarray,
) -> np.ndarray:
    built = layer(seed, store)
    if built.dimension != run.d or len(built.y) != run.records:
        raise ValueError(
            f"layer of {built.title} has {built.dimension} parameters and {len(built.y)} records; the run has {run.d} and {run.records}"
        )
    return accuracies(built, deviations, clips, batch=run.batch, steps=run.steps, rate=rate, seed=seed)
