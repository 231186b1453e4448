"""`python -m sims` with a study that plays at once: `python tiny_study.py [--slow] ARGUMENTS`."""

import sys
import time

import numpy as np

import mipsim as mi
from sims.__main__ import main
from sims.studies import STUDIES
from sims.study import Study


def build():
    data = mi.Gaussian(np.zeros(2), np.ones(2))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=5, target=np.ones(2))
    return game, mi.CovarianceScore(data, n=5)


TINY = Study("tiny", "for tests", build, {"quick": 10, "standard": 20, "full": 30}, seed=4)


def save_slowly(save):
    def slow(self, path):
        save(self, path)
        time.sleep(0.1)

    return slow


if __name__ == "__main__":
    STUDIES["tiny"] = TINY
    arguments = sys.argv[1:]
    if arguments[0] == "--slow":
        mi.Histogram.save = save_slowly(mi.Histogram.save)
        arguments = arguments[1:]
    sys.exit(main(arguments))
