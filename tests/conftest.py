"""Settings of the whole test run, made before anything imports JAX."""

import os

# Each xdist worker is a process and would start a thread per core in every pool: with as many workers as
# cores, cores^2 threads would take turns.
if os.environ.get("PYTEST_XDIST_WORKER"):
    for _pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(_pool, "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")
