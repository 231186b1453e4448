"""Special functions that SciPy and JAX lack: the non-central chi-square law in its far tails."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["noncentral_chi_square"])
