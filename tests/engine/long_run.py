"""A run in a process of its own, to be killed: `python long_run.py CHECKPOINT GAMES`."""

import sys

import numpy as np

import mipsim as mi

DATA = mi.Bernoulli(np.linspace(0.25, 0.75, 200))
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=50, target=DATA.easiest_target())
ATTACK = mi.CovarianceScore(DATA, n=50, target=GAME.target)
EDGES = np.linspace(-10.0, 10.0, 101)


def run(checkpoint, games):
    return mi.play(GAME, ATTACK, games, 11, edges=EDGES, chunk=8192, checkpoint=checkpoint, progress=False)


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]))
