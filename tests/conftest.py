"""Settings of the whole test run, made before anything imports JAX or matplotlib."""

import os
import signal

# The tests are the same on every machine: an accelerator is for runs that ask for it.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "agg")

# A shell that starts the tests in the background has them, and all their children, ignore Ctrl-C; some tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
