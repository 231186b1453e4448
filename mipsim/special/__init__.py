"""Special functions that SciPy and JAX lack: the non-central chi-square and Student laws in their far tails."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["noncentral_chi_square", "noncentral_t"])
