"""Audits of scores that any attack has made: lower bounds on what leaks, and promised guarantees held against them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
