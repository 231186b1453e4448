"""`python -m sims` with a study that plays at once: `python tiny_study.py [--halt] ARGUMENTS`."""

import sys
import time

import numpy as np

import mipsim as mi
from mipsim.engine import run as engine
from sims.__main__ import main
from sims.studies import STUDIES
from sims.study import Study


def build():
    data = mi.Gaussian(np.zeros(2), np.ones(2))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=5, target=np.ones(2))
    return game, mi.CovarianceScore(data, n=5)


TINY = Study("tiny", "for tests", build, {"quick": 10, "standard": 20, "full": 30}, seed=4)


def halting(store):
    """Keeps the first chunk and then waits for a signal to end, so that a test need not hit a moment."""

    def stored(path, counts):
        store(path, counts)
        if counts.games > 0:
            time.sleep(3600)

    return stored


if __name__ == "__main__":
    STUDIES["tiny"] = TINY
    arguments = sys.argv[1:]
    if arguments[0] == "--halt":
        engine.store = halting(engine.store)
        arguments = arguments[1:]
    sys.exit(main(arguments))
