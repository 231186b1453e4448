"""opake 0.16.1: `eps_delta().epsilon_at(...)` with its own threshold, for 200 canaries whose scores say nothing.

The threshold has the most right guesses on the scores that are then judged, and the p-value is that of a threshold fixed before.
"""

import importlib.metadata
import sys
import types

import numpy as np

# entered without __init__, which imports PyTorch
for name in ("opake.api.auditing", "opake.api.auditing.one_run"):
    package = types.ModuleType(name)
    place = importlib.metadata.distribution("opake-auditing").locate_file(name.replace(".", "/"))
    package.__path__ = [str(place)]
    sys.modules[name] = package
from opake.api.auditing.one_run._estimate import OneRunEstimate  # pyright: ignore[reportMissingImports]  # noqa: E402
from opake.api.auditing.one_run._roc import get_tn_fn_counts  # pyright: ignore[reportMissingImports]  # noqa: E402

rng, wrong = np.random.default_rng(0), 0
for _ in range(1000):
    coins, scores = rng.random(200) < 0.5, rng.normal(size=200)
    ins, outs = scores[coins], scores[~coins]
    cuts, tn, fn = get_tn_fn_counts(ins, outs)
    tp, fp = (fn[-1] - fn)[::-1], (tn[-1] - tn)[::-1]
    estimate = OneRunEstimate(len(ins), len(outs), cuts, tn, fn, tp, fp, ins, outs)
    wrong += estimate.eps_delta().epsilon_at(delta=1e-5, significance=0.05) > 1e-3
print(f"Nothing leaks. Of 1,000 audits at 95% confidence, {wrong} give epsilon above 0; 50 are allowed.")

assert wrong > 250
