"""Settings of the whole test run, made before anything imports JAX or matplotlib."""

import os

# The tests are the same on every machine: an accelerator is for runs that ask for it.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")
